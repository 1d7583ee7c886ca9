# The compiler, its warnings and the Debian packages every target may use.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# Inner loops that gain from more are written with vectors (min_plus.cc).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# GCC collects its garbage from a few MB on: an eighth of the time of a build.
add_compile_options(
  "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

option(MESHWRIGHT_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)
set(MESHWRIGHT_SANITIZE "" CACHE STRING "Value for -fsanitize, empty for none")

find_program(MESHWRIGHT_CCACHE ccache)
if(MESHWRIGHT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${MESHWRIGHT_CCACHE})
  # Without it ccache cannot see what a precompiled header holds.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPC REQUIRED IMPORTED_TARGET grpc++)
find_library(MESHWRIGHT_GRPC_REFLECTION grpc++_reflection REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
find_program(MESHWRIGHT_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)

add_library(meshwright_options INTERFACE)
target_include_directories(meshwright_options INTERFACE ${CMAKE_SOURCE_DIR}
                                                        ${CMAKE_BINARY_DIR})
target_link_libraries(meshwright_options INTERFACE Threads::Threads)
if(MESHWRIGHT_SANITIZE)
  target_compile_options(
    meshwright_options INTERFACE -fsanitize=${MESHWRIGHT_SANITIZE}
                                 -fno-sanitize-recover=all
                                 -fno-omit-frame-pointer)
  # GCC warns of strings without an end that its own instrumentation makes up.
  target_compile_options(
    meshwright_options
    INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>)
  target_link_options(meshwright_options INTERFACE
                      -fsanitize=${MESHWRIGHT_SANITIZE})
endif()

add_library(meshwright_warnings INTERFACE)
target_compile_options(
  meshwright_warnings INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter
                                -Wno-missing-field-initializers)
