// Races: heddle.race/1, what `heddle race --json` prints and `--out` keeps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/records/race.h"

namespace heddle {

Json race_schema();
std::string race_text(const Race& race);
Result<Race> parse_race(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings = nullptr);
Result<Race> read_race(const std::string& path, std::vector<Fault>* warnings = nullptr);

}  // namespace heddle
