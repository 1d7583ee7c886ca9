# The Debian packages: `cmake --build --preset release --target packages` writes
# them to packages/ of the build folder. What each holds is in install rules
# here, and deploy/debian has what dpkg needs beside files.
#
#   meshwright              the command line, its completions, man pages and
#                           examples
#   meshwright-coordinator  the daemon, its unit and configuration
#   meshwright-worker       the same of a worker
#   meshwright-runner       what runs programs, for the two that measure
#   meshwright-plugin-cpu   the PJRT plugin of the CPU
#   meshwright-dev          proto/v1 for clients in C++ and any other language

set(debian ${CMAKE_SOURCE_DIR}/deploy/debian)
set(units ${CMAKE_SOURCE_DIR}/deploy/systemd)
set(made ${CMAKE_BINARY_DIR}/debian)
set(libraries usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
# Programs that others start, and what they load.
set(private usr/lib/meshwright)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)

configure_file(${debian}/changelog.in ${made}/changelog @ONLY)
configure_file(${debian}/meshwright-dev.pc.in ${made}/meshwright.pc @ONLY)

# Compressed texts and what the programs say of themselves, when a package is
# made: then the programs are there.
install(CODE "set(described_program \"$<TARGET_FILE:meshwright>\")
              set(described_in \"${made}\")
              include(${CMAKE_SOURCE_DIR}/cmake/describe_programs.cmake)"
        ALL_COMPONENTS)

# Files that every package has.
function(meshwright_package name)
  install(FILES ${debian}/copyright DESTINATION usr/share/doc/${name}
          COMPONENT ${name})
  install(FILES ${made}/changelog.Debian.gz DESTINATION usr/share/doc/${name}
          COMPONENT ${name})
  if(EXISTS ${debian}/${name}.overrides)
    install(FILES ${debian}/${name}.overrides RENAME ${name}
            DESTINATION usr/share/lintian/overrides COMPONENT ${name})
  endif()
endfunction()

foreach(name meshwright meshwright-coordinator meshwright-worker
             meshwright-runner meshwright-plugin-cpu meshwright-dev)
  meshwright_package(${name})
endforeach()

# A daemon: a program, its user, its unit and its configuration.
function(meshwright_daemon name account)
  install(TARGETS ${name} DESTINATION usr/bin COMPONENT ${name})
  install(FILES ${units}/${name}.service DESTINATION usr/lib/systemd/system
          COMPONENT ${name})
  install(FILES ${units}/${name}.sysusers RENAME ${name}.conf
          DESTINATION usr/lib/sysusers.d COMPONENT ${name})
  string(REPLACE "meshwright-" "" role ${name})
  install(FILES ${units}/${role}.toml DESTINATION etc/meshwright
          COMPONENT ${name})
  install(FILES ${made}/man/${name}.1.gz DESTINATION usr/share/man/man1
          COMPONENT ${name})
  set(scripts)
  foreach(script postinst prerm postrm)
    configure_file(${debian}/${script}.in ${made}/${name}/${script} @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
                   GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    list(APPEND scripts ${made}/${name}/${script})
  endforeach()
  file(WRITE ${made}/${name}/conffiles "/etc/meshwright/${role}.toml\n")
  string(TOUPPER ${name} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA
      ${scripts} ${made}/${name}/conffiles PARENT_SCOPE)
endfunction()

meshwright_daemon(meshwright-coordinator meshwright)
meshwright_daemon(meshwright-worker meshwright-worker)

install(TARGETS meshwright DESTINATION usr/bin COMPONENT meshwright)
install(DIRECTORY ${made}/man/ DESTINATION usr/share/man/man1
        COMPONENT meshwright
        PATTERN meshwright-coordinator.1.gz EXCLUDE
        PATTERN meshwright-worker.1.gz EXCLUDE)
install(DIRECTORY ${made}/completions/ DESTINATION usr/share
        COMPONENT meshwright)
# What a cluster or a Prometheus is given beside the programs.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/deploy/slurm
                  ${CMAKE_SOURCE_DIR}/deploy/prometheus
        DESTINATION usr/share/doc/meshwright/examples COMPONENT meshwright
        PATTERN alerts_test.yml EXCLUDE)

install(TARGETS meshwright-runner meshwright-comm DESTINATION ${private}
        COMPONENT meshwright-runner)
install(PROGRAMS ${MESHWRIGHT_CPU_PLUGIN} RENAME pjrt_cpu.so
        DESTINATION ${private} COMPONENT meshwright-plugin-cpu
        PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
# CPack strips what is built here; the wheel's symbols take 77 MB.
install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${private}/pjrt_cpu.so\"
  COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT meshwright-plugin-cpu)

set(headers usr/include/meshwright/proto/v1)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/proto/v1/ ${CMAKE_BINARY_DIR}/proto/v1/
        DESTINATION ${headers} COMPONENT meshwright-dev
        FILES_MATCHING PATTERN "*.proto" PATTERN "*.pb.h"
        PATTERN CMakeFiles EXCLUDE)
install(TARGETS proto_v1 proto_v1_measurements proto_v1_reports
                proto_v1_resharding proto_v1_services
        ARCHIVE DESTINATION ${libraries}/meshwright COMPONENT meshwright-dev)
install(FILES ${made}/meshwright.pc DESTINATION ${libraries}/pkgconfig
        COMPONENT meshwright-dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Meshwright authors")
set(CPACK_PACKAGE_CONTACT
    "The Meshwright authors <maintainers@meshwright.dev>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_COMPONENTS_ALL
    meshwright meshwright-coordinator meshwright-worker meshwright-runner
    meshwright-plugin-cpu meshwright-dev)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package_versions.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE meshwright)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_PACKAGE_SECTION science)

# meshwright_describe(NAME SUMMARY TEXT...): the description of a package.
function(meshwright_describe name summary)
  string(TOUPPER ${name} key)
  list(JOIN ARGN "\n" text)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
endfunction()

set(about "Meshwright finds the fastest sharding of a training step on a group of"
          "accelerators. It measures candidate shardings on the real devices, and"
          "searches for the fastest combination that fits the memory.")
meshwright_describe(
  meshwright "fastest measured sharding of a training step" ${about} "."
  "This package has the command line, which plans alone on this machine or"
  "asks a coordinator.")
meshwright_describe(
  meshwright-coordinator "Meshwright daemon that plans and keeps measurements"
  ${about} "."
  "This package has the coordinator, which plans for everyone who asks, keeps"
  "plans and measurements, and hands programs to workers.")
meshwright_describe(
  meshwright-worker "Meshwright daemon that measures on the devices of a machine"
  ${about} "."
  "This package has the worker, which owns the devices of one machine and"
  "measures for a coordinator.")
meshwright_describe(
  meshwright-runner "Meshwright program that compiles and times in a sandbox"
  ${about} "."
  "This package has the program that the command line and the worker start for"
  "each batch of programs.")
meshwright_describe(
  meshwright-plugin-cpu "XLA compiler and runtime of the CPU for Meshwright"
  ${about} "."
  "This package has the PJRT plugin that makes a CPU a number of virtual"
  "devices. A machine with GPUs does not need it.")
meshwright_describe(
  meshwright-dev "Meshwright API: messages and services of proto/v1"
  ${about} "."
  "This package has the .proto files, and headers and static libraries made"
  "of them for C++.")

include(CPack)
add_custom_target(
  packages COMMAND ${CMAKE_CPACK_COMMAND} --config
                   ${CMAKE_BINARY_DIR}/CPackConfig.cmake
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
add_dependencies(
  packages meshwright meshwright-comm meshwright-coordinator meshwright-runner
  meshwright-worker proto_v1_measurements proto_v1_resharding proto_v1_services)
