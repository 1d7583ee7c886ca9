# Writes man pages, completions and the changelog to the folder `described_in`,
# as packages have them: `described_program` is meshwright. Run by install().
file(REMOVE_RECURSE ${described_in}/man ${described_in}/completions)
set(bash ${described_in}/completions/bash-completion/completions)
set(zsh ${described_in}/completions/zsh/vendor-completions)
set(fish ${described_in}/completions/fish/vendor_completions.d)
file(MAKE_DIRECTORY ${bash} ${zsh} ${fish})

execute_process(COMMAND ${described_program} man-pages ${described_in}/man ERROR_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
file(GLOB pages ${described_in}/man/*.1)
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND gzip -9nc ${described_in}/changelog
                OUTPUT_FILE ${described_in}/changelog.Debian.gz
                COMMAND_ERROR_IS_FATAL ANY)

foreach(pair bash:${bash}/meshwright zsh:${zsh}/_meshwright
             fish:${fish}/meshwright.fish)
  string(REGEX MATCH "^([a-z]+):(.*)$" _ ${pair})
  execute_process(COMMAND ${described_program} completion ${CMAKE_MATCH_1}
                  OUTPUT_FILE ${CMAKE_MATCH_2} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# These shells look for a file by the name of the program.
foreach(daemon coordinator worker)
  file(CREATE_LINK meshwright ${bash}/meshwright-${daemon} SYMBOLIC)
  file(CREATE_LINK meshwright.fish ${fish}/meshwright-${daemon}.fish SYMBOLIC)
endforeach()
