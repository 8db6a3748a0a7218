# The installed program finds what ships with it wherever its folder lies.
#
#   cmake -DBUILD=<build folder> -DSCRATCH=<folder> -P tests/layering/installed.cmake
file(REMOVE_RECURSE "${SCRATCH}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --component Unspecified --prefix "${SCRATCH}/made" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${SCRATCH}/made" "${SCRATCH}/moved")
set(heddle "${SCRATCH}/moved/bin/heddle")

# Only there: no other kernels may help out.
file(WRITE "${SCRATCH}/moved/share/heddle/kernels/schedules/toy_fig1/of_this_folder.json" "{}")
execute_process(COMMAND "${heddle}" list schedules --quiet OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
if(NOT listed MATCHES "toy_fig1/of_this_folder")
  message(FATAL_ERROR "the installed program lists what lies elsewhere:\n${listed}")
endif()
execute_process(COMMAND "${heddle}" show gemm_hopper h100 gemm_hopper/cutlass-cooperative OUTPUT_VARIABLE shown COMMAND_ERROR_IS_FATAL ANY)
if(NOT shown MATCHES "II ")
  message(FATAL_ERROR "no timeline:\n${shown}")
endif()
execute_process(COMMAND readelf -d -W "${heddle}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
if(dynamic MATCHES "(RPATH|RUNPATH)[^\n]*\\[([^]]*)\\]" AND NOT CMAKE_MATCH_2 STREQUAL "\$ORIGIN/../lib/heddle")
  message(FATAL_ERROR "libraries are searched in ${CMAKE_MATCH_2}")
endif()
