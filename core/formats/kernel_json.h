// Kernel files: heddle.kernel/1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

Json kernel_schema();

/// All faults at once: form (json_reader.h) and meaning (core/kernel/validate.h). Unknown keys go to `warnings`.
Result<Kernel> read_kernel(const std::string& path, std::vector<Fault>* warnings = nullptr);
/// `file_name` is for messages only.
Result<Kernel> parse_kernel(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings = nullptr);

/// The file's text. With the `original` text it was read from, members that Heddle does not know are kept, and what that left out because
/// it follows (core/kernel/infer.h) stays out.
std::string kernel_text(const Kernel& kernel, std::string_view original = {});
/// The same kernel with as little said of its values as a reader needs.
std::string brief_kernel_text(const Kernel& kernel);

}  // namespace heddle
