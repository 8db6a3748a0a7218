# Writes a source with the texts of files, so that a program finds them wherever it lies (heddle_embed in CMakeLists.txt).
#
#   cmake -DFILES=<paths, separated by |> -DHEADER=<declares the getter> -DGETTER=<with namespaces> -DSOURCE=<file> -P scripts/embed.cmake
string(REPLACE "|" ";" files "${FILES}")
set(source "// Made by scripts/embed.cmake.\n#include \"${HEADER}\"\n\nstatic constexpr heddle::EmbeddedFile kFiles[] = {\n")
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  file(READ "${file}" text)
  string(APPEND source "{\"${name}\", R\"heddle(${text})heddle\"},\n")
endforeach()
file(WRITE "${SOURCE}" "${source}};\n\nstd::span<const heddle::EmbeddedFile> ${GETTER}() { return kFiles; }\n")
