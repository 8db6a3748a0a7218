#include "core/machine/latency_spread.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/base/scanner.h"

namespace heddle {

std::int64_t LatencySpread::mean() const {
  std::int64_t sum = 0;
  for (const LatencyCase& c : cases) sum += c.cycles * c.share;
  return sum;
}

std::int64_t LatencySpread::mean_excess(Cycle threshold) const {
  std::int64_t sum = 0;
  for (const LatencyCase& c : cases) sum += std::max<Cycle>(0, c.cycles - threshold) * c.share;
  return sum;
}

std::size_t drawn_case(const std::vector<LatencyCase>& cases, std::int64_t number) {
  std::size_t at = 0;
  for (; at + 1 < cases.size() && number >= cases[at].share; ++at) number -= cases[at].share;
  return at;
}

std::size_t median_case(const std::vector<LatencyCase>& cases) { return drawn_case(cases, kWholeShare / 2 - 1); }

std::string percent_text(std::int64_t share) {
  if (share < 0) return "-" + percent_text(-share);
  std::string text = fmt::format("{}.{:04}", share / 10'000, share % 10'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

std::string describe(const std::vector<LatencyCase>& cases) {
  std::string text;
  for (const LatencyCase& c : cases) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", c.cycles, percent_text(c.share));
  return text;
}

std::optional<std::int64_t> parse_decimal(std::string_view text, int places) {
  const bool minus = text.starts_with('-');
  if (minus) text.remove_prefix(1);
  std::int64_t value = 0;
  bool point = false, digit = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9' || (point && places == 0 && c != '0')) return std::nullopt;
    digit = true;
    if (point && places == 0) continue;
    value = sat_add(sat_mul(value, 10), c - '0');
    if (point) --places;
  }
  if (!digit) return std::nullopt;
  for (; places > 0; --places) value = sat_mul(value, 10);
  return minus ? -value : value;
}

std::vector<LatencyCase> parse_cases(std::string_view text, std::vector<std::string>& unread) {
  std::vector<LatencyCase> cases;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t colon = item.find(':');
    LatencyCase found;
    bool good = colon != std::string_view::npos && item.ends_with('%');
    if (good) {
      const auto cycles = read_number<decltype(found.cycles)>(item.substr(0, colon));
      const auto share = parse_decimal(item.substr(colon + 1, item.size() - colon - 2), 4);
      good = cycles && share;
      if (good) found.cycles = *cycles, found.share = *share;
    }
    if (good)
      cases.push_back(found);
    else
      unread.emplace_back(item);
    if (comma == std::string_view::npos) return cases;
    text.remove_prefix(comma + 1);
  }
}

std::vector<SpreadFault> share_faults(const std::vector<std::int64_t>& shares) {
  if (shares.empty()) return {{{}, "there are no latencies in the list", "list cycles and shares, or write one number"}};
  std::vector<SpreadFault> faults;
  if (shares.size() > kMostLatencies)
    faults.push_back({{}, fmt::format("{} latencies, expected at most {}", shares.size(), kMostLatencies), "put neighbours together"});
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum = sat_add(sum, shares[i]);
    if (shares[i] <= 0) faults.push_back({i, fmt::format("a share of {}: expected more than 0", percent_text(shares[i])), ""});
  }
  if (sum != kWholeShare)
    faults.push_back({{}, fmt::format("the shares add up to {}, expected 100%", percent_text(sum)), "every draw takes one of them"});
  return faults;
}

std::vector<SpreadFault> order_faults(const std::vector<Cycle>& cycles) {
  std::vector<SpreadFault> faults;
  for (std::size_t i = 1; i < cycles.size(); ++i)
    if (cycles[i] <= cycles[i - 1])
      faults.push_back({i, fmt::format("{} cycles after {}: expected latencies that rise", cycles[i], cycles[i - 1]),
                        "list the shortest first, each once"});
  return faults;
}

}  // namespace heddle
