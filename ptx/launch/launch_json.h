// Launches as files: heddle.launch/1, which `heddle capture` writes and people edit.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "ptx/launch/launch.h"

namespace heddle::ptx {

Json launch_schema();
/// Whether a text says that it is a launch, right or wrong.
bool says_launch(std::string_view text);

/// Values of named parameters stand beside the block ("values"), and win over it where they differ, so that a number is edited and not a
/// byte. A file without a block has one as long as its maps and names reach, and a value for each of its names.
std::string launch_text(const Launch& launch);
/// What the PTX calls a parameter, for values whose names the launch does not explain: asked with the launch read so far.
using ParameterFinder = std::function<std::optional<NamedParameter>(const Launch&, const std::string& name)>;
/// All faults at once: of the format, and those of launch_rules.h. `warnings`: members that nothing reads.
Result<Launch> parse_launch(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings = nullptr,
                            const ParameterFinder& find = {});
Result<Launch> read_launch(const std::string& path, std::vector<Fault>* warnings = nullptr, const ParameterFinder& find = {});
Result<Ok> write_launch(const std::string& path, const Launch& launch);

/// Where the PTX of a launch file is; "" where the file names none.
std::string text_path_of(const Launch& launch, const std::string& launch_path);

}  // namespace heddle::ptx
