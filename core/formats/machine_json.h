// Machine files: heddle.machine/1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/machine/machine.h"

namespace heddle {

Json machine_schema();

/// All faults at once. Unknown keys go to `warnings`.
Result<Machine> read_machine(const std::string& path, std::vector<Fault>* warnings = nullptr);
/// `file_name` is for messages only.
Result<Machine> parse_machine(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings = nullptr);

/// The file's text. With the `original` text it was read from, members that Heddle does not know are kept.
std::string machine_text(const Machine& machine, std::string_view original = {});

}  // namespace heddle
