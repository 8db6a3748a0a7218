// Measurements: heddle.measurement/1, what `heddle run --json` and `heddle profile --json` print and what the window keeps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/records/measurement.h"

namespace heddle {

/// JSON Schema; the other formats have theirs under such names too.
Json measurement_schema();
/// Only what there is: an absent part has no member.
Json measurement_json(const Measurement& measurement);

/// The file's text. With the `original` text it was read from, members that Heddle does not know are kept.
std::string measurement_text(const Measurement& measurement, std::string_view original = {});

Result<Measurement> parse_measurement(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings = nullptr);
Result<Measurement> read_measurement(const std::string& path, std::vector<Fault>* warnings = nullptr);

}  // namespace heddle
