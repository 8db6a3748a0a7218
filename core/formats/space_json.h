// Spaces of configurations: heddle.space/1, and configurations as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/result.h"
#include "core/tuning_space/space.h"

namespace heddle {

Json space_schema();

/// All faults at once, those of meaning (validate) included. Unknown keys go to `warnings`.
Result<SearchSpace> read_space(const std::string& path, std::vector<Fault>* warnings = nullptr);
/// `file_name` is for messages only.
Result<SearchSpace> parse_space(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings = nullptr);
/// The same from an open file, for formats that hold a space.
SearchSpace read_space_from(ObjectReader& root);

Json space_json(const SearchSpace& space);

/// {"TILE_N": 256, "grid": "persistent", "order": ["k", "i", "j"]}
Json config_json(const SearchSpace& space, const Config& config);
/// Nothing (with faults) when a parameter is missing or has no such value.
std::optional<Config> read_config(const Cursor& at, const SearchSpace& space);

}  // namespace heddle
