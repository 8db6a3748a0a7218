// Published measurements: heddle.published/1, JSON Lines, a measured kernel in each; and heddle.validation/1, what the names of their
// machines stand for and how far predictions may be off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/records/published.h"

namespace heddle {

/// Rows of JSON Lines, or the one row that a heddle.measurement/1 file is. Faults of all lines together; ids given twice and pairs
/// with a row that is not there are faults.
Result<std::vector<PublishedRow>> parse_published(std::string_view text, const std::string& file, std::vector<Fault>* warnings = nullptr);
Result<std::vector<PublishedRow>> read_published(const std::string& path, std::vector<Fault>* warnings = nullptr);

Result<ValidationGround> parse_validation_ground(std::string_view text, const std::string& file, std::vector<Fault>* warnings = nullptr);
Result<ValidationGround> read_validation_ground(const std::string& path, std::vector<Fault>* warnings = nullptr);

Json published_schema();  ///< of a line
Json validation_schema();

}  // namespace heddle
