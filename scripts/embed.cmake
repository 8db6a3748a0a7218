# Writes a source with the texts of the device files, so that a program finds them wherever it lies.
#
#   cmake -DFILES=<paths, separated by |> -DSOURCE=<file> -P scripts/embed.cmake
string(REPLACE "|" ";" files "${FILES}")
set(text "// Made by scripts/embed.cmake.\n#include \"codegen/device/device.h\"\n\nnamespace heddle::codegen {\n\nstatic constexpr DeviceFile kFiles[] = {\n")
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  file(READ "${file}" cuda)
  string(APPEND text "{\"${name}\", R\"cuda(${cuda})cuda\"},\n")
endforeach()
file(WRITE "${SOURCE}" "${text}};\n\nstd::span<const DeviceFile> device_files() { return kFiles; }\n\n}  // namespace heddle::codegen\n")
