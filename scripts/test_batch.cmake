# Writes one source that compiles several test files together, each in a namespace of its own: what they call their helpers is
# their own business. Headers come first, because within a namespace they would declare something else.
#
#   cmake -DFILES=<paths, separated by |> -DSOLVER=<whether the build has one> -DBATCH=<file> -P scripts/test_batch.cmake
string(REPLACE "|" ";" files "${FILES}")
set(headers)
set(text "")
foreach(file IN LISTS files)
  file(STRINGS "${file}" includes REGEX "^#include ")
  list(APPEND headers ${includes})
  cmake_path(GET file STEM name)
  string(APPEND text "namespace in_${name} {\n#include \"${file}\"\n}\n")
endforeach()
list(REMOVE_DUPLICATES headers)
if(NOT SOLVER)
  list(FILTER headers EXCLUDE REGEX "\"(solver|app/cli/questions|app/tune)/")
endif()
list(JOIN headers "\n" headers)
file(WRITE "${BATCH}" "${headers}\n\n${text}")
