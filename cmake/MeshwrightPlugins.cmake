# The CPU PJRT plugin and its header come from a PyPI wheel that
# cmake/fetch_wheel.sh unpacks into the build tree; other plugins are given by
# path at run time.

set(MESHWRIGHT_DOWNLOADS ${CMAKE_SOURCE_DIR}/build/downloads
    CACHE PATH "Where wheels are kept between configurations")
set(pjrt_root ${MESHWRIGHT_DOWNLOADS}/xla-cpu-pjrt-0.0.1)
set(MESHWRIGHT_CPU_PLUGIN
    ${pjrt_root}/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so)
if(NOT EXISTS ${MESHWRIGHT_CPU_PLUGIN})
  message(STATUS "Fetching the XLA CPU plugin")
  execute_process(
    COMMAND ${CMAKE_SOURCE_DIR}/cmake/fetch_wheel.sh xla-cpu-pjrt 0.0.1
            ${pjrt_root}
    COMMAND_ERROR_IS_FATAL ANY)
endif()

add_library(pjrt_c_api INTERFACE)
target_include_directories(pjrt_c_api SYSTEM
                           INTERFACE ${pjrt_root}/xla_plugins/xla_cpu_pjrt/include)
