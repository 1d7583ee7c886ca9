# HiGHS, the integer program solver: a PyPI wheel holds its library and headers.
# The library stands beside the programs, which look for it there and nowhere
# else, so that their folder can be copied as a whole.

set(MESHWRIGHT_HIGHS ${MESHWRIGHT_DOWNLOADS}/highsbox-1.15.1
    CACHE PATH "The unpacked wheel of highsbox")
set(highs_root
    ${MESHWRIGHT_HIGHS}/highsbox-1.15.1.data/purelib/highsbox/highs_dist)
if(NOT EXISTS ${highs_root}/lib/libhighs.so)
  message(STATUS "Fetching HiGHS")
  execute_process(
    COMMAND ${CMAKE_SOURCE_DIR}/cmake/fetch_wheel.sh highsbox 1.15.1
            ${MESHWRIGHT_HIGHS}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
file(COPY ${highs_root}/lib/libhighs.so
     DESTINATION ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})

# The wheel's own CMake package names a folder that the wheel does not have.
add_library(highs SHARED IMPORTED)
set_target_properties(
  highs PROPERTIES IMPORTED_LOCATION
                   ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/libhighs.so
                   INTERFACE_INCLUDE_DIRECTORIES ${highs_root}/include/highs)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
