// Commands that take a PTX text, a launch file or a folder of a capture where they take a KERNEL otherwise: told by their words, with
// arguments and options of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/command/command_table.h"

namespace heddle::app {

/// "gemm.ptx#NAME" names a kernel of a text that has several.
struct PtxPath {
  std::string file, kernel;
};
PtxPath split_kernel(const std::string& path);

/// A PTX text by its name, a file that says that it is a launch, or a folder with such files.
bool is_ptx_path(const std::string& path);
/// Launch files of a folder, by name, numbers in front of it as numbers.
std::vector<std::string> launch_files_of(const std::string& folder);

/// The command as it is for these; nullptr: it has no such form.
const CommandSpec* ptx_form(std::string_view name);
/// The form of `command` that these words ask for.
const CommandSpec& form_for(const CommandSpec& command, const std::vector<std::string>& words);
/// all_options(), and those that only the other form has: for completion.
std::vector<OptionSpec> offered_options(const CommandSpec& command);

}  // namespace heddle::app
