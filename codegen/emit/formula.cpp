// The step of every single bit is read off the table, pairs of bits tell whether their steps are added or exclusive-ored, and the formula
// is then compared with the whole table.
#include "codegen/emit/formula.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace heddle::codegen {
namespace {

using Digit = FormulaBit::Digit;

/// ((digit >> first) & (2^count - 1)) * factor
struct Term {
  int first = 0, count = 1;
  std::int64_t factor = 1;
};

constexpr int kLaneBits = 5, kWarpBits = 2;

/// Of the bits of a thread's number: "warp", "(lane & 15)", "(tid >> 3)"; may take a part of the factor.
std::string thread_digit(Term& term, bool whole_tid) {
  int first = term.first, width = kLaneBits + kWarpBits;
  const char* name = "tid";
  if (first >= kLaneBits) {
    name = "warp", width = kWarpBits, first -= kLaneBits;
  } else if (first + term.count <= kLaneBits && !(whole_tid && first == 0)) {
    name = "lane", width = kLaneBits;
  }
  const std::int64_t mask = (std::int64_t{1} << term.count) - 1, shift = std::int64_t{1} << first;
  if (first == 0 && term.count == width) return name;
  if (first == 0) return fmt::format("({} & {})", name, mask);
  if (first + term.count == width) return fmt::format("({} >> {})", name, first);
  if (term.factor % shift == 0) {
    term.factor /= shift;
    return fmt::format("({} & {})", name, mask * shift);
  }
  return fmt::format("({} >> {} & {})", name, first, mask);
}

std::string times(const std::string& text, std::int64_t factor) { return factor == 1 ? text : fmt::format("{} * {}", text, factor); }

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

/// Terms of different bits that only add, each a whole multiple of the last, as one product: "(warp * 16 + (lane & 15)) * 128".
std::string chain_text(std::vector<Term> terms, bool whole_tid) {
  const std::int64_t factor = terms.back().factor;
  std::vector<std::string> parts;
  for (Term& term : terms) {
    term.factor /= factor;
    const std::string digit = thread_digit(term, whole_tid);
    parts.push_back(times(digit, term.factor));
  }
  const std::string text = parts.size() > 1 ? "(" + joined(parts, " + ") + ")" : parts[0];
  return times(text, factor);
}

/// The bits of the steps one by one: runs in which the next bit of the thread sets the next bit of the number.
std::vector<Term> runs_of(const std::vector<FormulaBit>& bits) {
  std::set<std::pair<int, int>> cells;  // bit of the thread, bit of the number
  for (const FormulaBit& b : bits)
    for (int at = 0; at < 62; ++at)
      if (b.step >> at & 1) cells.insert({b.bit, at});
  std::vector<Term> runs;
  for (const auto& [bit, at] : cells) {
    if (cells.contains({bit - 1, at - 1})) continue;
    Term run{bit, 0, std::int64_t{1} << at};
    while (cells.contains({bit + run.count, at + run.count})) ++run.count;
    runs.push_back(run);
  }
  return runs;
}

int place(const Term& term) { return std::countr_zero(static_cast<std::uint64_t>(term.factor)); }

/// Exclusive or of all steps.
std::string mixed_text(const std::vector<FormulaBit>& bits) {
  std::vector<Term> runs = runs_of(bits);
  std::sort(runs.begin(), runs.end(), [](const Term& a, const Term& b) {
    return std::pair{place(a), a.first} > std::pair{place(b), b.first};
  });
  const bool whole_tid =
      std::any_of(runs.begin(), runs.end(), [](const Term& t) { return t.first < kLaneBits && t.first + t.count > kLaneBits; });
  // Runs that set the same bits meet; those that meet none are added.
  std::vector<std::vector<Term>> sets;
  for (const Term& run : runs) {
    std::vector<Term> own{run};
    for (std::size_t s = 0; s < sets.size();) {
      const bool meets = std::any_of(sets[s].begin(), sets[s].end(),
                                     [&](const Term& t) { return place(t) < place(run) + run.count && place(run) < place(t) + t.count; });
      if (!meets) {
        ++s;
        continue;
      }
      own.insert(own.begin(), sets[s].begin(), sets[s].end());
      sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(s));
    }
    sets.push_back(std::move(own));
  }
  std::vector<std::string> parts;
  std::vector<Term> chain;
  const auto end_chain = [&] {
    if (!chain.empty()) parts.push_back(chain_text(std::exchange(chain, {}), whole_tid));
  };
  for (std::vector<Term>& set : sets) {
    if (set.size() == 1) {
      const bool again = std::any_of(chain.begin(), chain.end(), [&](const Term& t) {
        return t.first < set[0].first + set[0].count && set[0].first < t.first + t.count;
      });
      if (again) end_chain();
      chain.push_back(set[0]);
      continue;
    }
    end_chain();
    std::int64_t factor = set[0].factor;
    for (const Term& t : set) factor = std::min(factor, t.factor);
    std::sort(set.begin(), set.end(), [](const Term& a, const Term& b) { return a.first > b.first; });
    std::vector<std::string> operands;
    for (Term t : set) {
      t.factor /= factor;
      const std::string digit = thread_digit(t, whole_tid);
      operands.push_back(times(digit, t.factor));
    }
    parts.push_back(times("(" + joined(operands, " ^ ") + ")", factor));
  }
  end_chain();
  return joined(parts, " + ");
}

/// Sum of all steps: bits whose steps double are one term.
std::vector<Term> doubling_of(std::vector<FormulaBit> bits) {
  std::sort(bits.begin(), bits.end(), [](const FormulaBit& a, const FormulaBit& b) { return a.bit < b.bit; });
  std::vector<Term> terms;
  for (const FormulaBit& b : bits) {
    if (b.step == 0) continue;
    Term* last = terms.empty() ? nullptr : &terms.back();
    if (last && last->first + last->count == b.bit && b.step == last->factor << last->count)
      ++last->count;
    else
      terms.push_back({b.bit, 1, b.step});
  }
  std::reverse(terms.begin(), terms.end());
  return terms;
}

}  // namespace

std::optional<BitFormula> BitFormula::of(int threads, int issues, const std::function<std::int64_t(int, int)>& at) {
  const auto fits = [&](int inner) -> std::optional<BitFormula> {
    BitFormula f;
    f.threads_ = threads, f.issues_ = issues, f.inner_ = inner, f.base_ = at(0, 0);
    const auto j_of = [&](const FormulaBit& b) {
      return b.digit == Digit::Thread ? 0 : (1 << b.bit) * (b.digit == Digit::Outer ? inner : 1);
    };
    const auto thread_of = [](const FormulaBit& b) { return b.digit == Digit::Thread ? 1 << b.bit : 0; };
    for (const auto& [digit, extent] : {std::pair{Digit::Thread, threads}, {Digit::Inner, inner}, {Digit::Outer, issues / inner}})
      for (int bit = 0; 1 << bit < extent; ++bit) {
        FormulaBit b{digit, bit, 0, f.bits_.size()};
        if (const std::int64_t x = at(thread_of(b), j_of(b)); x >= 0) b.step = x - f.base_;
        if (b.step < 0) return std::nullopt;
        f.bits_.push_back(b);
      }
    for (std::size_t y = 0; y < f.bits_.size(); ++y)
      for (std::size_t x = 0; x < y; ++x) {
        FormulaBit &a = f.bits_[x], &b = f.bits_[y];
        const int thread = thread_of(a) + thread_of(b), j = j_of(a) + j_of(b);
        if (thread >= threads || j >= issues) continue;
        if (a.digit == b.digit && a.digit == Digit::Inner && j >= inner) continue;
        const std::int64_t both = at(thread, j);
        if (both < 0 || both - f.base_ == a.step + b.step) continue;
        if (both - f.base_ != (a.step ^ b.step)) return std::nullopt;
        const std::size_t from = b.group, to = a.group;
        for (FormulaBit& c : f.bits_)
          if (c.group == from) c.group = to;
      }
    for (int t = 0; t < threads; ++t)
      for (int j = 0; j < issues; ++j)
        if (const std::int64_t x = at(t, j); x >= 0 && x != f.value(t, j)) return std::nullopt;
    return f;
  };
  if (auto formula = fits(issues)) return formula;
  for (int inner = 2; inner < issues; ++inner)
    if (issues % inner == 0)
      if (auto formula = fits(inner)) return formula;
  return std::nullopt;
}

std::int64_t BitFormula::value(int thread, int j) const {
  std::map<std::size_t, std::int64_t> groups;
  for (const FormulaBit& b : bits_) {
    const int digit = b.digit == Digit::Thread ? thread : b.digit == Digit::Inner ? j % inner_ : j / inner_;
    if (digit >> b.bit & 1) groups[b.group] ^= b.step;
  }
  std::int64_t sum = base_;
  for (const auto& [group, part] : groups) sum += part;
  return sum;
}

std::int64_t BitFormula::thread_value(int thread) const { return value(thread, 0) - base_; }

bool BitFormula::meets_threads(std::size_t group) const {
  return std::any_of(bits_.begin(), bits_.end(), [&](const FormulaBit& b) { return b.group == group && b.digit == Digit::Thread; });
}

std::int64_t BitFormula::flips() const {
  std::int64_t all = 0;
  for (const FormulaBit& b : bits_)
    if (b.digit != Digit::Thread && meets_threads(b.group)) all |= b.step;
  return all;
}

bool BitFormula::splits() const {
  for (int j = 0; j < issues_; ++j) {
    std::int64_t flipped = 0, added = 0;
    for (const FormulaBit& b : bits_) {
      if (b.digit == Digit::Thread) continue;
      if (!((b.digit == Digit::Inner ? j % inner_ : j / inner_) >> b.bit & 1)) continue;
      if (meets_threads(b.group))
        flipped ^= b.step;
      else
        added += b.step;
    }
    for (int t = 0; t < threads_; ++t)
      if ((thread_value(t) ^ flipped) + added + base_ != value(t, j)) return false;
  }
  return true;
}

std::string BitFormula::thread_text() const {
  std::vector<FormulaBit> all;
  std::map<std::size_t, std::int64_t> masks;
  for (const FormulaBit& b : bits_)
    if (b.digit == Digit::Thread && b.step != 0) all.push_back(b), masks[b.group] |= b.step;
  if (all.empty()) return {};
  std::int64_t seen = 0;
  bool apart = true;  // no two groups share a bit: exclusive or is addition
  for (const auto& [group, mask] : masks) apart = apart && (seen & mask) == 0, seen |= mask;
  if (apart) return mixed_text(all);
  std::vector<FormulaBit> single;
  std::vector<std::string> parts;
  for (const auto& [group, mask] : masks) {
    std::vector<FormulaBit> of;
    for (const FormulaBit& b : all)
      if (b.group == group) of.push_back(b);
    if (of.size() == 1)
      single.push_back(of[0]);
    else
      parts.push_back(mixed_text(of));
  }
  std::vector<Term> chain;
  std::vector<std::string> sums;
  for (const Term& term : doubling_of(single)) {
    if (!chain.empty() && chain.back().factor != term.factor << term.count) sums.push_back(chain_text(std::exchange(chain, {}), false));
    chain.push_back(term);
  }
  if (!chain.empty()) sums.push_back(chain_text(chain, false));
  sums.insert(sums.end(), parts.begin(), parts.end());
  return joined(sums, " + ");
}

std::string BitFormula::issue_text(const std::string& j, bool flipped) const {
  const auto part_of = [&](const Term& term, Digit digit, int bits) {
    const bool one = inner_ == issues_;
    std::string text = digit == Digit::Inner && !one ? fmt::format("{} % {}", j, inner_) : j;
    const std::int64_t divisor = (std::int64_t{1} << term.first) * (digit == Digit::Outer ? inner_ : 1);
    if (divisor > 1) text = fmt::format("{} / {}", text, divisor);
    if (term.first + term.count < bits || (flipped && one)) text = fmt::format("{} % {}", text, std::int64_t{1} << term.count);
    return times(text, term.factor);
  };
  std::vector<std::string> parts;
  for (const Digit digit : {Digit::Outer, Digit::Inner}) {
    std::vector<FormulaBit> of;
    int bits = 0;
    for (const FormulaBit& b : bits_) {
      if (b.digit != digit) continue;
      bits = std::max(bits, b.bit + 1);
      if (meets_threads(b.group) == flipped) of.push_back(b);
    }
    std::vector<Term> terms;
    for (const Term& term : doubling_of(of)) {
      // Multiples are exclusive ors only of steps of one bit.
      if (!flipped || std::has_single_bit(static_cast<std::uint64_t>(term.factor))) {
        terms.push_back(term);
        continue;
      }
      for (int k = term.count - 1; k >= 0; --k) terms.push_back({term.first + k, 1, term.factor << k});
    }
    for (const Term& term : terms) parts.push_back(part_of(term, digit, bits));
  }
  return joined(parts, flipped ? " ^ " : " + ");
}

std::string BitFormula::added_text(const std::string& j) const { return issue_text(j, false); }
std::string BitFormula::flipped_text(const std::string& j) const { return issue_text(j, true); }

}  // namespace heddle::codegen
