#include "ptx/text/names.h"

#include <charconv>

#include "ptx/text/tokens.h"

namespace heddle::ptx {

void PtxNames::open() {
  declared_.emplace_back();
  families_of_.emplace_back();
}

void PtxNames::close() {
  const auto undo = [](const std::vector<int>& own, auto& symbols, auto& top, auto name_of) {
    for (auto it = own.rbegin(); it != own.rend(); ++it) {
      const auto& symbol = symbols[static_cast<std::size_t>(*it)];
      if (symbol.shadows < 0) {
        top.erase(name_of(symbol));
      } else {
        top[name_of(symbol)] = symbol.shadows;
      }
    }
  };
  undo(declared_.back(), symbols_, top_, [](const PtxSymbol& symbol) { return symbol.name; });
  undo(families_of_.back(), families_, top_family_, [](const Family& family) { return family.prefix; });
  declared_.pop_back();
  families_of_.pop_back();
}

void PtxNames::declare_at(int depth, std::string_view name, PtxSymbol::Kind kind, int index) {
  const int id = static_cast<int>(symbols_.size());
  const auto [place, fresh] = top_.try_emplace(name, id);
  symbols_.push_back({kind, index, depth, fresh ? -1 : place->second, name});
  place->second = id;
  declared_[static_cast<std::size_t>(depth)].push_back(id);
}

void PtxNames::declare_registers(std::string_view prefix, std::uint64_t count, Scalar type) {
  const int id = static_cast<int>(families_.size());
  const auto [place, fresh] = top_family_.try_emplace(prefix, id);
  families_.push_back({prefix, count, type, depth(), fresh ? -1 : place->second});
  place->second = id;
  families_of_.back().push_back(id);
  digits_in_prefixes_ = digits_in_prefixes_ || (!prefix.empty() && is_digit(prefix.back()));
}

/// The family in the innermost scope of which `name` is a member: its last digits, without zeros in front, are the number.
const PtxNames::Family* PtxNames::family_of(std::string_view name) const {
  const Family* best = nullptr;
  constexpr std::size_t kMostDigits = 9;
  constexpr int kMostSteps = 300;
  std::size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1]) && name.size() - begin < kMostDigits) --begin;
  for (; begin < name.size(); ++begin) {
    const bool zero_in_front = name[begin] == '0' && begin + 1 < name.size();
    const auto place = zero_in_front ? top_family_.end() : top_family_.find(name.substr(0, begin));
    if (place != top_family_.end()) {
      std::uint64_t number = 0;
      std::from_chars(name.data() + begin, name.data() + name.size(), number);
      int steps = 0;  // a hostile text declares one family ten thousand times
      for (int id = place->second; id >= 0 && steps < kMostSteps; id = families_[static_cast<std::size_t>(id)].shadows, ++steps) {
        const Family& family = families_[static_cast<std::size_t>(id)];
        if (best && best->depth >= family.depth) break;
        if (number < family.count) best = &family;
      }
    }
    if (!digits_in_prefixes_) break;
  }
  return best;
}

const PtxSymbol* PtxNames::find(std::string_view name, std::vector<RegisterName>& registers) {
  const auto place = top_.find(name);
  const PtxSymbol* known = place == top_.end() ? nullptr : &symbols_[static_cast<std::size_t>(place->second)];
  if (known && known->depth == depth()) return known;
  if (name.empty() || !is_digit(name.back()) || top_family_.empty()) return known;
  const Family* family = family_of(name);
  if (!family || (known && known->depth >= family->depth)) return known;
  registers.push_back({name, family->type});
  declare_at(family->depth, name, PtxSymbol::Kind::Register, static_cast<int>(registers.size()) - 1);
  return &symbols_.back();
}

}  // namespace heddle::ptx
