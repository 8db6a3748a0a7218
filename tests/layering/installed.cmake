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

# The script for Triton's users is there, can be started, finds the program, and the program finds it.
set(script "${SCRATCH}/moved/share/heddle/scripts/heddle_triton.py")
execute_process(COMMAND "${script}" --help WORKING_DIRECTORY "${SCRATCH}" OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
if(NOT help MATCHES "python3 moved/share/heddle/scripts/heddle_triton.py dump SCRIPT")
  message(FATAL_ERROR "the script does not say how it is called:\n${help}")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=HEDDLE PATH=/usr/bin:/bin "PYTHONPATH=${SCRATCH}/moved/share/heddle/scripts" PYTHONDONTWRITEBYTECODE=1
                        python3 -c "import heddle_triton; print(heddle_triton.find_heddle())" OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
file(REAL_PATH "${heddle}" real)
if(NOT found STREQUAL "${real}\n")
  message(FATAL_ERROR "the installed script finds '${found}', not ${real}")
endif()
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
execute_process(COMMAND "${heddle}" export "${root}/tests/triton/texts/attention_forward.sm90.scheduled.ttgir" --out "${SCRATCH}/out.ttgir" --timeout 5
                WORKING_DIRECTORY "${SCRATCH}" ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[ \n]+" " " said "${said}")
if(NOT said MATCHES "next: python3 moved/share/heddle/scripts/heddle_triton.py finish ${SCRATCH}/out.ttgir --target sm_90")
  message(FATAL_ERROR "the next command cannot be typed:\n${said}")
endif()

# So are the pages: every link between them leads to something.
file(GLOB_RECURSE pages "${SCRATCH}/moved/share/doc/heddle/*.md")
list(LENGTH pages count)
if(count LESS 12)
  message(FATAL_ERROR "pages are missing: ${pages}")
endif()
foreach(page ${pages})
  file(READ "${page}" text)
  get_filename_component(folder "${page}" DIRECTORY)
  string(REGEX REPLACE "`[^`\n]*`" "" text "${text}")
  string(REPLACE "[" "" text "${text}")  # brackets would hold a list of CMake's together
  string(REPLACE "]" "@" text "${text}")
  string(REGEX MATCHALL "@\\([^)#: ;]+" links "${text}")
  foreach(link ${links})
    string(SUBSTRING "${link}" 2 -1 link)
    if(NOT EXISTS "${folder}/${link}")
      message(FATAL_ERROR "${page} leads to ${link}, which is not installed")
    endif()
  endforeach()
endforeach()
