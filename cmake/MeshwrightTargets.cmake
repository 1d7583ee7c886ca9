# One library per leaf folder; its tests stand beside its sources.
#
#   meshwright_library(coordinator_ir HOT SRCS a.cc b.cc DEPS base proto_hlo)
#   meshwright_test(coordinator_ir_test SRCS a_test.cc DEPS coordinator_ir)
#   meshwright_binary(meshwright SRCS main.cc DEPS cli_verbs)

# A unity build compiles all files of a library as one: a third of the CPU time
# of file by file, for whoever builds once. Changing one file compiles the
# library, so who works on the code builds file by file.
option(MESHWRIGHT_UNITY "Compile the files of a library or test as one" OFF)

# What most files read, precompiled once for hot libraries and binaries, once for
# all other libraries, and once for tests: a precompiled header serves one level
# of optimization.
function(meshwright_precompiled name)
  cmake_parse_arguments(ARG "" "" "OPTIONS;DEPS;HEADERS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_link_libraries(
    ${name} PRIVATE meshwright_options meshwright_warnings absl::status
                    absl::statusor absl::strings absl::time
                    protobuf::libprotobuf ${ARG_DEPS})
  target_precompile_headers(
    ${name} PRIVATE
    <algorithm> <chrono> <cmath> <cstdint> <functional> <limits> <map> <memory>
    <numeric> <optional> <set> <span> <stop_token> <string> <string_view> <thread>
    <tuple> <unordered_map> <utility> <vector>
    <absl/status/status.h> <absl/status/statusor.h> <absl/strings/ascii.h>
    <absl/strings/numbers.h> <absl/strings/str_cat.h> <absl/strings/str_format.h>
    <absl/strings/str_join.h> <absl/strings/str_split.h> <absl/time/time.h>
    <google/protobuf/generated_message_reflection.h> <google/protobuf/map.h>
    <google/protobuf/map_entry.h> <google/protobuf/message.h>
    <google/protobuf/repeated_field.h> ${ARG_HEADERS})
endfunction()

set(MESHWRIGHT_COLD_OPTIONS $<$<CONFIG:Release>:-Og>)
set(MESHWRIGHT_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
meshwright_precompiled(meshwright_precompiled)
meshwright_precompiled(meshwright_precompiled_cold OPTIONS
                       ${MESHWRIGHT_COLD_OPTIONS})
# Most of those read messages. Whoever builds once changes none; who does would
# compile everything.
if(MESHWRIGHT_UNITY)
  add_dependencies(meshwright_precompiled_cold proto_hlo_sources
                   proto_v1_reports_sources proto_v1_sources)
  target_precompile_headers(
    meshwright_precompiled_cold
    PRIVATE
      <absl/algorithm/container.h> <absl/container/flat_hash_map.h> <deque>
      <filesystem> <google/protobuf/extension_set.h>
      <google/protobuf/map_field.h> ${CMAKE_BINARY_DIR}/proto/hlo/hlo.pb.h
      ${CMAKE_BINARY_DIR}/proto/v1/job.pb.h
      ${CMAKE_BINARY_DIR}/proto/v1/plan.pb.h
      ${CMAKE_BINARY_DIR}/proto/v1/reports.pb.h)
endif()
meshwright_precompiled(
  meshwright_precompiled_tests
  OPTIONS ${MESHWRIGHT_TEST_OPTIONS}
  DEPS GTest::gmock GTest::gtest
  HEADERS <gmock/gmock.h> <gtest/gtest.h>)

function(meshwright_reuse_precompiled name hot)
  if(hot)
    target_precompile_headers(${name} REUSE_FROM meshwright_precompiled)
  else()
    target_compile_options(${name} PRIVATE ${MESHWRIGHT_COLD_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM meshwright_precompiled_cold)
  endif()
endfunction()

# All files of a target in one compilation, where that is asked for.
function(meshwright_compile_as_one name)
  if(NOT MESHWRIGHT_UNITY)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON
                                           UNITY_BUILD_BATCH_SIZE 0)
  # A private class of a .cc file has members of its anonymous namespace; and
  # GCC 12 takes a short string for a buffer that a long one overruns.
  target_compile_options(
    ${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage
                    -Wno-array-bounds -Wno-stringop-overflow
                    -Wno-stringop-overread>)
endfunction()

# HOT is for a room whose loops somebody waits for: a solver, a reader of models,
# messages, a store. All others spend their time in XLA, on the disk, in the
# network or not at all: optimizing them takes long and gains nothing.
function(meshwright_library name)
  cmake_parse_arguments(ARG "HOT" "" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_link_libraries(
    ${name}
    PUBLIC meshwright_options absl::status absl::statusor absl::strings
           ${ARG_DEPS}
    PRIVATE meshwright_warnings ${ARG_PRIVATE_DEPS})
  meshwright_compile_as_one(${name})
  meshwright_reuse_precompiled(${name} "${ARG_HOT}")
endfunction()

function(meshwright_binary name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE meshwright_options meshwright_warnings
                                        ${ARG_DEPS})
  meshwright_reuse_precompiled(${name} HOT)
endfunction()

# TIMEOUT is in seconds, ten times as many with a sanitizer; COST, about what the
# test takes, lets ctest begin with the longest. A test's working directory is
# the source tree, so that tests/testdata/... is found by its name in the tree.
# QUICK_COMPILES is for what looks at results and not at times: XLA's passes are
# all there, LLVM's are not.
function(meshwright_test name)
  cmake_parse_arguments(ARG "QUICK_COMPILES" "TIMEOUT;COST" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_COST)
    set(ARG_COST 1)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(MESHWRIGHT_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 10")
  endif()
  set(environment "MESHWRIGHT_BUILD_DIR=${CMAKE_BINARY_DIR}"
                  "MESHWRIGHT_CPU_PLUGIN=${MESHWRIGHT_CPU_PLUGIN}"
                  # Tests run beside each other, and time for the rules' sake.
                  "MESHWRIGHT_CALM_SECONDS=0"
                  "MESHWRIGHT_LOCK_FOLDER=${CMAKE_BINARY_DIR}/locks/${name}")
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/locks/${name})
  if(ARG_QUICK_COMPILES)
    list(APPEND environment XLA_FLAGS=--xla_backend_optimization_level=0
                MESHWRIGHT_XLA_FLAGS=--xla_backend_optimization_level=0)
  endif()
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(
    ${name} PRIVATE meshwright_options meshwright_warnings ${ARG_DEPS}
                    GTest::gmock GTest::gtest GTest::gtest_main)
  meshwright_compile_as_one(${name})
  target_compile_options(${name} PRIVATE ${MESHWRIGHT_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM meshwright_precompiled_tests)
  add_test(NAME ${name} COMMAND ${name}
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(
    ${name}
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} COST ${ARG_COST} ENVIRONMENT
                                                       "${environment}")
endfunction()

# A library that stands in for a vendor's: FILE below build/doubles, named and
# placed as the real one is, so that it is found where that would be.
function(meshwright_double name)
  cmake_parse_arguments(ARG "" "FILE" "SRCS;DEPS" ${ARGN})
  get_filename_component(folder ${ARG_FILE} DIRECTORY)
  get_filename_component(file ${ARG_FILE} NAME)
  add_library(${name} SHARED ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE meshwright_options meshwright_warnings
                                        ${ARG_DEPS})
  set_target_properties(
    ${name}
    PROPERTIES PREFIX "" OUTPUT_NAME ${file} SUFFIX "" LIBRARY_OUTPUT_DIRECTORY
               ${CMAKE_BINARY_DIR}/doubles/${folder})
endfunction()

# Generated sources live in the build tree only.
add_custom_target(generated_sources)
function(meshwright_proto name)
  cmake_parse_arguments(ARG "GRPC;HOT" "" "PROTOS;DEPS" ${ARGN})
  set(outputs)
  foreach(proto ${ARG_PROTOS})
    get_filename_component(stem ${proto} NAME_WE)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    set(base ${CMAKE_BINARY_DIR}/${folder}/${stem})
    set(generated ${base}.pb.cc ${base}.pb.h)
    set(arguments --cpp_out=${CMAKE_BINARY_DIR})
    if(ARG_GRPC)
      list(APPEND generated ${base}.grpc.pb.cc ${base}.grpc.pb.h)
      list(APPEND arguments --grpc_out=${CMAKE_BINARY_DIR}
           --plugin=protoc-gen-grpc=${MESHWRIGHT_GRPC_PLUGIN})
    endif()
    add_custom_command(
      OUTPUT ${generated}
      COMMAND protobuf::protoc -I ${CMAKE_SOURCE_DIR} ${arguments}
              ${CMAKE_CURRENT_SOURCE_DIR}/${proto}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${proto}
      COMMENT "Generating messages of ${folder}/${proto}")
    list(APPEND outputs ${generated})
  endforeach()
  # The headers without the library, for who reads code and builds none.
  add_custom_target(${name}_sources DEPENDS ${outputs})
  add_dependencies(generated_sources ${name}_sources)
  add_library(${name} STATIC ${outputs})
  target_link_libraries(${name} PUBLIC meshwright_options protobuf::libprotobuf
                                       ${ARG_DEPS})
  if(MESHWRIGHT_UNITY AND ARG_GRPC)
    # Of services alone: messages of two files have names in common.
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON
                                             UNITY_BUILD_BATCH_SIZE 0)
    set(messages ${outputs})
    list(FILTER messages EXCLUDE REGEX "grpc[.]pb[.]")
    set_source_files_properties(
      ${messages} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  meshwright_reuse_precompiled(${name} "${ARG_HOT}")
  if(ARG_GRPC)
    target_link_libraries(${name} PUBLIC PkgConfig::GRPC)
  endif()
endfunction()

# meshwright_embed(TARGET FILE...): texts that TARGET holds, behind
# ListPageFiles() of web/page_files.h. A file's name is its path from the folder
# of TARGET, or, of a file from elsewhere, its own. An edit builds again.
function(meshwright_embed target)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_texts.cc)
  set(script ${CMAKE_SOURCE_DIR}/cmake/embed_texts.cmake)
  list(JOIN ARGN "|" files)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFILES=${files} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}
            -DOUTPUT=${output} -P ${script}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    DEPENDS ${ARGN} ${script}
    COMMENT "Embedding the files of pages"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

# meshwright_link_tcmalloc(TARGET): an executable whose allocator is tcmalloc,
# for all libraries that it loads, too. A sanitizer brings its own.
find_library(MESHWRIGHT_TCMALLOC_ARCHIVE libtcmalloc_minimal.a)
function(meshwright_link_tcmalloc target)
  if(MESHWRIGHT_SANITIZE)
    return()
  endif()
  if(NOT MESHWRIGHT_TCMALLOC_ARCHIVE)
    message(FATAL_ERROR "libtcmalloc_minimal.a is missing: "
                        "run cmake/install_packages.sh build")
  endif()
  target_link_libraries(${target} PRIVATE ${MESHWRIGHT_TCMALLOC_ARCHIVE})
endfunction()
