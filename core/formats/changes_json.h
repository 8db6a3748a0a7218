// The list "changes" of a constraints file (heddle.constraints/1): numbers to be taken differently before anything is resolved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_reader.h"
#include "core/base/result.h"
#include "core/problem/changes.h"

namespace heddle {

/// Only the changes; what else the file says is left to read_constraints, which needs the problem that they make. A change
/// without a name gets one in words. Whether ops, units and fields exist is for resolve() to say.
Result<Changes> read_changes(const std::string& path, std::vector<Fault>* warnings = nullptr);
Result<Changes> parse_changes(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings = nullptr);

/// The items of the list, as the reader of the whole file sees them.
Changes read_changes_from(ObjectReader& root);
Json changes_json(Changes changes);
Json changes_schema(Json& definitions);  ///< of the list

}  // namespace heddle
