#include "core/answers/period_parts.h"

#include <fmt/format.h>

#include "core/answers/summary.h"

namespace heddle {

std::string period_parts_line(const motion::PeriodParts& parts) {
  std::string line = fmt::format("period {:.1f} cycles with contention", parts.period);
  const char* before = ": ";
  for (const motion::PeriodPart& part : parts.parts) {
    if (part.cycles < 0.5) continue;
    line += fmt::format("{}{} {:.0f}", before, part.name, part.cycles);
    before = ", ";
  }
  return line;
}

std::string period_parts_table(const motion::PeriodParts& parts, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const motion::PeriodPart& part : parts.parts)
    rows.push_back(
        {part.name, fmt::format("{:.1f}", part.cycles), part.without ? fmt::format("{:.1f}", *part.without) : std::string(), part.what});
  return fmt::format("period {:.1f} cycles with contention, of which\n", parts.period) +
         text_table({{"part"}, {"cycles", true}, {"period without it", true}, {"what it is"}}, rows, style.width);
}

}  // namespace heddle
