#include "core/answers/contention_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text_style.h"

namespace heddle {
namespace {

std::string number_text(double number) { return fmt::format("{:.{}f}", number, number != 0 && number > -10 && number < 10 ? 1 : 0); }
std::string bound_text(double number) { return fmt::format("{:.0f}", number); }
std::string range_text(const ContentionReading& r) {
  return r.number.empty() ? std::string() : fmt::format("{} to {}", bound_text(r.least), bound_text(r.most));
}

}  // namespace

std::string contention_table(const std::vector<ContentionReading>& readings) {
  if (readings.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const ContentionReading& r : readings)
    rows.push_back({printable(r.number), printable(r.of), printable(r.unit), number_text(r.measured),
                    r.number.empty() && r.value == 0 ? std::string() : bound_text(r.value), range_text(r), to_string(r.verdict)});
  return text_table(
      {{"number", false}, {"of", false}, {"in", false}, {"measured", true}, {"file", true}, {"range", false}, {"verdict", false}}, rows);
}

std::string contention_headline(const std::vector<ContentionReading>& readings) {
  const auto judged = std::count_if(readings.begin(), readings.end(), [](const auto& r) { return r.verdict != ReadingVerdict::Open; });
  const auto inside = std::count_if(readings.begin(), readings.end(), [](const auto& r) { return r.verdict == ReadingVerdict::Inside; });
  std::string text = judged == 0 ? fmt::format("{} readings, none of a number that the file has", readings.size())
                                 : fmt::format("{} of {} inside of the file's ranges", inside, judged);
  for (const ReadingVerdict verdict : {ReadingVerdict::Below, ReadingVerdict::Above}) {
    std::string list;
    for (const ContentionReading& r : readings)
      if (r.verdict == verdict)
        list += fmt::format("{}{} {} ({}, {})", list.empty() ? "" : ", ", r.number, number_text(r.measured), range_text(r), r.of);
    if (!list.empty()) text += fmt::format("; {}: {}", to_string(verdict), list);
  }
  return text;
}

}  // namespace heddle
