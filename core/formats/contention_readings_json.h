// heddle.contention/1: what heddle calibrate --contention has read off its micro-kernels.
#pragma once

#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/records/contention_reading.h"

namespace heddle {

Json contention_schema();
std::string contention_text(const ContentionReadings& readings);
Result<ContentionReadings> parse_contention(std::string_view text, const std::string& file);
Result<ContentionReadings> read_contention_file(const std::string& path);

}  // namespace heddle
