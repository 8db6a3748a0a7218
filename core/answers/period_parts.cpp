#include "core/answers/period_parts.h"

#include <fmt/format.h>

#include "core/answers/summary.h"

namespace heddle {

std::string period_parts_table(const motion::PeriodParts& parts, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const motion::PeriodPart& part : parts.parts)
    rows.push_back(
        {part.name, fmt::format("{:.1f}", part.cycles), part.without ? fmt::format("{:.1f}", *part.without) : std::string(), part.what});
  return fmt::format("period {:.1f} cycles with contention, of which\n", parts.period) +
         text_table({{"part"}, {"cycles", true}, {"period without it", true}, {"what it is"}}, rows, style.width);
}

}  // namespace heddle
