#include "tests/support/measured_race.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/formats/measurement_json.h"
#include "tests/support/paths.h"

namespace heddle::test {

Race race_of_attention() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(repository_path("assets/measured/2026-11-27")))
    if (entry.path().filename().string().starts_with("attention-8k")) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  Race race;
  race.machine = "h100", race.device = "H100", race.rounds = 1;
  for (const std::string& file : files) {
    const Result<Measurement> m = read_measurement(file);
    if (!m) continue;
    Racer racer;
    racer.name = std::filesystem::path(file).stem().string(), racer.schedule_text = m->schedule_text;
    racer.cold_us = racer.cycles = {1};
    race.kernel = m->kernel, race.params = m->params;
    race.racers.push_back(std::move(racer));
  }
  return race;
}

}  // namespace heddle::test
