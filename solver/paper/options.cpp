#include "solver/paper/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/base/scanner.h"
#include "core/base/suggest.h"

namespace heddle::solver::paper {
namespace {

struct Row {
  std::string name, about;
  std::vector<std::string> words;  ///< value i is words[i]; empty: an integer
  std::int64_t low = 0, high = 0;
  std::string special;  ///< what the value `low` is called, if it means something of its own
  std::function<std::int64_t(const Options&)> get;
  std::function<void(Options&, std::int64_t)> set;
};

template <class T>
Row choice(std::string name, T Options::*member, std::vector<std::string> words, std::string about) {
  return {std::move(name),
          std::move(about),
          std::move(words),
          0,
          0,
          "",
          [member](const Options& o) { return static_cast<std::int64_t>(o.*member); },
          [member](Options& o, std::int64_t value) { o.*member = static_cast<T>(value); }};
}

struct Ends {
  std::int64_t low, high;
};

Row integer(std::string name, std::int64_t Options::*member, Ends ends, std::string special, std::string about) {
  return {std::move(name),
          std::move(about),
          {},
          ends.low,
          ends.high,
          std::move(special),
          [member](const Options& o) { return o.*member; },
          [member](Options& o, std::int64_t value) { o.*member = value; }};
}

const std::vector<Row>& rows() {
  static const std::vector<std::string> off_on{"off", "on"};
  static const std::vector<Row> table{
      choice("normalize", &Options::normalize, off_on,
             "Costs are normalized to small integers as in section 5.2; off keeps native cycles, which the paper calls "
             "intractable."),
      integer("u", &Options::u, {1, 1'000'000}, "", "Upper limit on the sum of the normalized costs; the authors use 300."),
      choice("table", &Options::table, {"latency", "occupancy"},
             "cycles(v), the length of the reservation table: until the result is usable, or only while v holds a unit; "
             "the paper uses one number for both."),
      choice("cost-list", &Options::list, {"ops", "ops+edges", "all"},
             "Which integers are normalized together: table lengths, also edge delays, also spill costs; the paper says "
             "costs. What is left out is scaled by the same ratio."),
      choice("entries", &Options::entries, {"distinct", "multiset"},
             "Whether the sum bounded by U counts every distinct integer once or every occurrence; the formula can be read "
             "both ways."),
      choice("tie-break", &Options::tie_break, {"max-sum", "min-sum"},
             "Which of the solutions with the smallest F: the finest or the coarsest; the paper takes whatever the solver "
             "returns. At F = 0 the ratios agree and the smallest is taken."),
      choice("floor", &Options::floor, {"zero", "one"},
             "Whether a positive cost may become zero, as the formula allows, or stays at least one."),
      integer("cluster", &Options::cluster, {0, 100}, "",
              "Costs within this many percent of each other are made equal before normalization; the paper does not."),
      choice("variable-latency", &Options::variable, {"machine", "copies", "none"},
             "Which ops have variable latency: those the machine says (TMA loads), every asynchronous op on a copy unit, or "
             "none."),
      choice("streaming", &Options::streaming, {"edges", "whole", "off"},
             "Zero latency for variable-latency ops without inputs: their outgoing edges only, the unit staying occupied, or "
             "the whole op; off charges their latency."),
      integer("spill-cost", &Options::spill_cost, {-1, 1'000'000}, "machine",
              "Native cycles that a register value takes to another warp: the machine's hand-off, or one number for all; the "
              "paper takes an annotation."),
      choice("blocking", &Options::blocking, {"async", "waits", "none"},
             "Which edges need blocking synchronization: all from asynchronous ops, only those that wait on a barrier inside "
             "one group, or none."),
      choice("pool", &Options::pool, {"groups", "warps"},
             "What opw[v,w] ranges over: groups of warps, each op on one, or single warps, each op on as many as it needs; "
             "the authors say either."),
      integer("groups", &Options::groups, {0, 64}, "kernel",
              "Size of the pool: as many groups as the kernel allows (all the machine's warps when the pool is warps), or "
              "this many."),
      choice("same-warp", &Options::same_warp, {"equal", "contain", "literal"},
             "When ops on several warps count as on the same warp: equal sets, one set in the other, or never unless both "
             "have one warp, as Figure 6 reads literally; all the same when the pool is groups."),
      choice("concurrency", &Options::concurrency, {"cycles", "issue"},
             "How long an asynchronous op keeps its warp from blocking: all its cycles, as Figure 6 reads literally, or its "
             "issue cycle, without which the published schedules are impossible."),
      choice("spill-concurrency", &Options::spill_concurrency, off_on,
             "Whether the receiver of a cross-warp spill blocks too; the paper mentions the rule but does not print it."),
      integer("registers", &Options::registers, {0, 65536}, "machine",
              "Registers per thread: the machine's, less what is taken for addresses and loop invariants, or this many; the "
              "paper's reduced budget is not given."),
      choice("register-charge", &Options::charge, {"member", "whole"},
             "Whether a value on several warps costs each of them its share or the whole value."),
      choice("cross-warp", &Options::cross_warp, {"free", "no-registers", "never"},
             "Which edges may cross warps: all, those that do not pass registers, or none, which contradicts VARIABLE "
             "LATENCY as soon as there is a load."),
      choice("same-cycle-guard", &Options::same_cycle_guard, off_on,
             "Figure 5 makes a value whose last use is in the cycle of its definition live from cycle 0 on; on treats it as "
             "never live."),
      choice("init", &Options::init, {"last-copy", "by-distance"},
             "Which copies end alive: the last one, as printed, which counts too little for distances of 2 and more, or every "
             "copy whose reader lies beyond the copies."),
      choice("form", &Options::form, {"compact", "literal"},
             "One start per op, or Booleans op[v,i,t] and live[v,i,t] as printed; the same answers, literal is slow."),
      choice("accelerate", &Options::accelerate, off_on,
             "Start at the arithmetic bound on I, ask the last L of a window first, and ask once whether any I can work; the "
             "same I and L as Algorithm 1 counting from 1, which is off."),
      integer("limit", &Options::limit, {0, 1'000'000'000}, "serial",
              "Largest I to try: one iteration after the other, beyond which nothing new is possible, or this; Algorithm 1 "
              "has none and climbs forever when nothing works."),
      choice("secondary", &Options::secondary, {"none", "fewest-groups"},
             "What decides among schedules at the first feasible I and L: nothing, as in the paper, or the fewest groups."),
  };
  return table;
}

std::string value_text(const Row& row, std::int64_t value) {
  if (!row.words.empty()) return row.words[static_cast<std::size_t>(value)];
  return value == row.low && !row.special.empty() ? row.special : std::to_string(value);
}

std::string expectation(const Row& row) {
  if (!row.words.empty()) return fmt::format("one of {}", list_of(row.words));
  if (row.special.empty()) return fmt::format("an integer from {} to {}", row.low, row.high);
  return fmt::format("'{}' or an integer from {} to {}", row.special, row.low + 1, row.high);
}

}  // namespace

std::vector<PaperSetting> settings(const Options& options) {
  std::vector<PaperSetting> list;
  for (const Row& row : rows())
    list.push_back(
        {row.name, value_text(row, row.get(options)), value_text(row, row.get(Options{})), row.about, row.words, row.low, row.high});
  return list;
}

Result<Ok> set_switch(Options& options, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) return Error::about("switch", fmt::format("wants NAME=VALUE, not '{}'", assignment));
  const std::string name(assignment.substr(0, equals)), word(assignment.substr(equals + 1));
  for (const Row& row : rows()) {
    if (row.name != name) continue;
    std::int64_t value = 0;
    if (!row.words.empty()) {
      const auto found = std::find(row.words.begin(), row.words.end(), word);
      if (found == row.words.end())
        return Error::input(fmt::format("switch '{}' takes {}, not '{}'", name, expectation(row), word), did_you_mean(word, row.words));
      value = found - row.words.begin();
    } else if (!row.special.empty() && word == row.special) {
      value = row.low;
    } else {
      const auto number = read_number<std::int64_t>(word);
      const std::int64_t least = row.special.empty() ? row.low : row.low + 1;
      value = number.value_or(0);
      if (!number || value < least || value > row.high)
        return Error::input(fmt::format("switch '{}' takes {}, not '{}'", name, expectation(row), word));
    }
    row.set(options, value);
    return Ok{};
  }
  std::vector<std::string> names;
  for (const Row& row : rows()) names.push_back(row.name);
  const std::string hint = did_you_mean(name, names);
  return Error::about("name of a switch", fmt::format("there is no switch '{}'", name), hint);
}

}  // namespace heddle::solver::paper
