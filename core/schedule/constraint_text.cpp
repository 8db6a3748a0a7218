// A table of sentences for saying, and a small parser of words for reading.
#include "core/schedule/constraint_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "core/base/scanner.h"
#include "core/base/suggest.h"

namespace heddle {
namespace {

// --- saying

/// {ops}, {low}, {high}, {channel}, {s}: empty for a count of one.
const char* sentence_of(ConstraintKind kind) {
  switch (kind) {
    case ConstraintKind::Pin: return "pin {ops} at {low}";
    case ConstraintKind::Range: return "{ops} from {low} to {high}";
    case ConstraintKind::InGroup: return "{ops} in group {low}";
    case ConstraintKind::NotInGroup: return "{ops} not in group {low}";
    case ConstraintKind::SameGroup: return "{ops} in one group";
    case ConstraintKind::DifferentGroup: return "{ops} in different groups";
    case ConstraintKind::Before: return "{ops}: at least {low} cycle{s} apart, in this order";
    case ConstraintKind::SameStage: return "{ops} in one stage";
    case ConstraintKind::EarlierStage: return "{ops}: at least {low} stage{s} apart, in this order";
    case ConstraintKind::MaxStages: return "at most {high} stage{s}";
    case ConstraintKind::MaxWarps: return "at most {high} warp{s}";
    case ConstraintKind::MaxGroups: return "at most {high} group{s}";
    case ConstraintKind::MaxRegisters: return "at most {high} register{s} per thread";
    case ConstraintKind::MaxSmem: return "at most {high} byte{s} of shared memory";
    case ConstraintKind::MaxTmem: return "at most {high} column{s} of tensor memory";
    case ConstraintKind::MaxDepth: return "at most {high} slot{s} for {channel}";
    case ConstraintKind::OneByOne: return "iterations one by one";
    case ConstraintKind::IIRange: return "II from {low} to {high}";
    case ConstraintKind::ClosedGroup: return "{ops} in a closed group";
    case ConstraintKind::MaxWidthRegisters: return "at most {high} register{s} by the width of groups";
    case ConstraintKind::MaxStageSmem: return "at most {high} byte{s} of shared memory for rings by stages";
    case ConstraintKind::MaxCrossingSmem: return "at most {high} byte{s} of shared memory for rings between groups beside {low}";
  }
  return "";
}

/// What may stand next to each other in a word without quotes. Letters of other alphabets may.
bool plain(char c) { return in_name(c) || c == '.' || c == '@' || c == '/' || c == '-' || static_cast<unsigned char>(c) >= 0x80; }

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789", word[0] == '-' ? 1 : 0) == std::string_view::npos;
}

/// Words that mean something where a name may stand.
constexpr std::array kReserved{"pin",     "and",      "at",     "from",      "to",   "in",     "not",   "before", "by",
                               "between", "together", "apart",  "max",       "no",   "most",   "depth", "of",     "group",
                               "groups",  "stage",    "stages", "warps",     "warp", "smem",   "tmem",  "for",    "registers",
                               "is",      "one",      "the",    "different", "same", "starts", "takes"};

/// As it stands in a sentence.
std::string spoken(const std::string& name) {
  const bool reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
  if (!name.empty() && !reserved && std::all_of(name.begin(), name.end(), plain) && name.find("..") == std::string::npos &&
      name[0] != '-' && !is_digit(name[0]))
    return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  return text + '"';
}

// --- reading

struct Word {
  std::string text;
  bool quoted = false;
};

/// Names and numbers; "<=", ">=", "=", "+", ",", ":", ".."; quoted names.
std::optional<std::vector<Word>> words_of(std::string_view text) {
  std::vector<Word> words;
  for (Scanner in(text, " \t"); !in.done();) {
    const std::size_t begin = in.at();
    const char c = in.here();
    if (c == '"') {
      std::optional<std::string> name = in.unquoted();
      if (!name) return std::nullopt;
      words.push_back({*std::move(name), true});
      continue;
    }
    if (!in.take("..")) {
      while (plain(in.here()) && !in.rest().starts_with("..")) in.go(in.at() + 1);
      if (in.at() == begin) in.go(begin + ((c == '<' || c == '>' || c == '=') && in.here(1) == '=' ? 2 : 1));
    }
    words.push_back({std::string(in.since(begin))});
  }
  return words;
}

struct Resource {
  ConstraintKind kind;
  std::vector<std::string> words;  ///< any of them names it
};
const std::vector<Resource>& resources() {
  static const std::vector<Resource> list{{ConstraintKind::MaxStages, {"stages", "stage", "max_stages"}},
                                          {ConstraintKind::MaxWarps, {"warps", "warp", "max_warps"}},
                                          {ConstraintKind::MaxGroups, {"groups", "group", "max_groups"}},
                                          {ConstraintKind::MaxRegisters, {"registers", "register", "regs", "max_registers"}},
                                          {ConstraintKind::MaxSmem, {"smem", "bytes", "byte", "shared", "max_smem"}},
                                          {ConstraintKind::MaxTmem, {"tmem", "columns", "column", "tensor", "max_tmem"}}};
  return list;
}

/// Reads left to right; after the first fault every step does nothing.
class Parser {
 public:
  Parser(std::string_view text, const Problem& problem) : text_(text), problem_(problem) {}

  Result<UserConstraint> run() {
    if (auto words = words_of(text_))
      words_ = std::move(*words);
    else
      fail("a quotation mark is not closed");
    if (!failed() && words_.empty()) fail("it is empty", examples());
    if (!failed()) sentence();
    if (!failed() && at_ < words_.size()) fail(fmt::format("'{}' is left over after \"{}\"", rest(), describe(found_)));
    if (failed()) return error_;
    found_.name = describe(found_);
    return found_;
  }

 private:
  bool failed() const { return !error_.faults.empty(); }
  void fail(std::string message, std::string hint = {}) {
    error_.faults.push_back({"", "", fmt::format("'{}': {}", text_, message), std::move(hint)});
  }
  static std::string examples() {
    return "for example: pin S at 128; S in group 2; S, O in one group; S before O by 64; registers <= 240; at most 3 stages; iterations "
           "one by one";
  }
  std::string rest() const {
    std::string text;
    for (std::size_t i = at_; i < words_.size(); ++i) text += (i > at_ ? " " : "") + words_[i].text;
    return text;
  }

  bool sees(std::string_view word, std::size_t ahead = 0) const {
    return at_ + ahead < words_.size() && !words_[at_ + ahead].quoted && words_[at_ + ahead].text == word;
  }
  /// Takes all of these words or none.
  bool take(std::initializer_list<std::string_view> words) {
    std::size_t ahead = 0;
    for (const std::string_view word : words)
      if (!sees(word, ahead++)) return false;
    at_ += words.size();
    return true;
  }
  bool take_any(std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return take({word}); });
  }
  void expected(const std::vector<std::string>& words) {
    const std::string wanted = list_of(words);
    if (at_ >= words_.size()) return fail(fmt::format("it ends where {} should follow", wanted), examples());
    const std::string guess = did_you_mean(words_[at_].text, words);
    fail(fmt::format("found '{}' where {} should stand", words_[at_].text, wanted), guess.empty() ? examples() : guess);
  }

  std::int64_t number(std::int64_t low = 0) {
    if (failed()) return 0;
    bool minus = take({"-"});
    if (take({"+"})) minus = false;
    if (at_ >= words_.size() || words_[at_].quoted || words_[at_].text.empty()) return expected({"a number"}), 0;
    std::string digits = words_[at_].text;
    std::int64_t factor = 1;
    for (const auto& [unit, times] : {std::pair{"KiB", std::int64_t{1024}}, {"MiB", std::int64_t{1} << 20}})
      if (digits.size() > 3 && digits.ends_with(unit)) digits.resize(digits.size() - 3), factor = times;
    if (!is_number(digits)) return expected({"a number"}), 0;
    ++at_;
    for (const auto& [unit, times] : {std::pair{"KiB", std::int64_t{1024}}, {"MiB", std::int64_t{1} << 20}})
      if (factor == 1 && take({unit})) factor = times;
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (minus) value = -value;
    if (code != std::errc() || value > kLargestDemand / factor || value < low)
      return fail(fmt::format("{}{} is not a number from {} to {}", minus ? "-" : "", digits, low, kLargestDemand / factor)), 0;
    return value * factor;
  }

  void name(const std::vector<std::string>& known, const char* what, std::string& into) {
    if (failed()) return;
    if (at_ >= words_.size()) return expected({what});
    const std::string& text = words_[at_].text;
    if (std::find(known.begin(), known.end(), text) == known.end()) {
      const std::string guess = did_you_mean(text, known);
      return fail(fmt::format("no {} '{}' in {}", what, text, problem_.kernel), !guess.empty() ? guess
                                                                                : known.empty()
                                                                                    ? "it has none"
                                                                                    : fmt::format("its {}s: {}", what, list_of(known)));
    }
    into = text;
    ++at_;
  }

  void op() {
    std::string found;
    name(names_of(problem_.ops), "op", found);
    if (failed()) return;
    if (std::find(found_.ops.begin(), found_.ops.end(), found) != found_.ops.end())
      return fail(fmt::format("op '{}' is listed twice", found));
    found_.ops.push_back(found);
  }
  void ops() {
    op();
    while (!failed() && (take({",", "and"}) || take_any({",", "and"}))) op();
  }
  void want_ops(std::size_t least) {
    if (!failed() && found_.ops.size() < least)
      fail(fmt::format("\"{}\" speaks of at least {} ops", to_string(found_.kind), least), "S and O in one group");
  }

  const Resource* resource() const {
    if (at_ >= words_.size() || words_[at_].quoted) return nullptr;
    for (const Resource& r : resources())
      if (std::find(r.words.begin(), r.words.end(), words_[at_].text) != r.words.end()) return &r;
    return nullptr;
  }
  static std::vector<std::string> resource_words() { return {"stages", "warps", "groups", "registers", "bytes", "columns", "slots"}; }
  /// "registers per thread", "bytes of shared memory", "smem"
  void take_resource() {
    const Resource* found = resource();
    if (!found) return expected(resource_words());
    found_.kind = found->kind;
    if (!take({"shared", "memory"}) && !take({"tensor", "memory"})) ++at_;
    if (found_.kind == ConstraintKind::MaxRegisters && take({"by", "the", "width", "of", "groups"}))
      found_.kind = ConstraintKind::MaxWidthRegisters;
    if (found_.kind == ConstraintKind::MaxRegisters) take({"per", "thread"});
    if (found_.kind == ConstraintKind::MaxSmem) take({"of", "shared", "memory"}) || take({"of", "smem"});
    if (found_.kind == ConstraintKind::MaxSmem && take({"for", "rings", "by", "stages"})) return rings(ConstraintKind::MaxStageSmem);
    if (found_.kind == ConstraintKind::MaxSmem && take({"for", "rings", "between", "groups"}))
      return rings(ConstraintKind::MaxCrossingSmem);
    if (found_.kind == ConstraintKind::MaxTmem) take({"of", "tensor", "memory"}) || take({"of", "tmem"});
  }
  bool take_limit_sign() { return take({"<="}) || take({"at", "most"}) || take({"<", "="}) || take({"="}); }

  /// ": load to mma, add takes 16384; ..."
  void rings(ConstraintKind kind) {
    found_.kind = kind;
    if (kind == ConstraintKind::MaxCrossingSmem && take({"beside"})) found_.low = number();
    if (!take({":"})) return;
    const std::vector<std::string> known = names_of(problem_.ops);
    do {
      StageRing& ring = found_.rings.emplace_back();
      name(known, "op", ring.writer);
      if (!failed() && take({"to"})) {
        do name(known, "op", ring.readers.emplace_back());
        while (!failed() && take({","}));
      }
      if (!failed() && !take({"takes"})) return expected({"takes"});
      ring.bytes = number();
    } while (!failed() && take({";"}));
  }

  void channel() {
    found_.kind = ConstraintKind::MaxDepth;
    name(names_of(problem_.channels), "channel", found_.channel);
  }

  void sentence() {
    if (take({"pin"})) return pin();
    if (take({"iterations", "one", "by", "one"})) {
      found_.kind = ConstraintKind::OneByOne;
      return;
    }
    if (sees("II") && !problem_.find_op("II").valid()) return ii_range();
    if (take({"at", "most"}) || take({"no", "more", "than"})) {
      found_.high = number();
      if (failed()) return;
      take({"of"});  // "at most 160 KiB of shared memory"
      if (take({"slot"}) || take({"slots"})) {
        if (!take({"for"})) return expected({"for"});
        return channel();
      }
      return take_resource();
    }
    if (take({"depth", "of"})) {
      channel();
      if (!failed() && !take_limit_sign()) expected({"<="});
      found_.high = number();
      return;
    }
    if (take({"max"})) {
      take_resource();
      take_limit_sign();
      found_.high = number();
      return;
    }
    if (resource() && problem_.find_op(words_[at_].text).valid() == false) {
      take_resource();
      if (!take_limit_sign()) return expected({"<="});
      found_.high = number();
      return;
    }
    if (is_number(words_[at_].text) && !words_[at_].quoted) return numbers_first();
    about_ops();
  }

  /// "II from 100 to 200", "II at least 100", "II <= 200"
  void ii_range() {
    take({"II"});
    if (take({"from"})) {
      range_to({"to", ".."});
    } else if (take({"at", "least"}) || take({">="})) {
      found_.low = number(1);
    } else if (take_limit_sign()) {
      found_.low = 1;
      found_.high = number(1);
    } else {
      expected({"from", "at least", "<="});
    }
    found_.kind = ConstraintKind::IIRange;
  }

  void pin() {
    found_.kind = ConstraintKind::Pin;
    ops();
    if (failed()) return;
    if (!take_any({"at", "to", "=", "=="})) return expected({"at"});
    found_.low = number();
  }

  /// "100 <= S <= 200"
  void numbers_first() {
    found_.kind = ConstraintKind::Range;
    found_.low = number();
    if (!failed() && !take({"<="})) return expected({"<="});
    ops();
    if (!failed() && !take({"<="})) return expected({"<="});
    found_.high = number();
    check_range();
  }
  void check_range() {
    if (!failed() && found_.low > found_.high)
      fail(fmt::format("{} is above {}; nothing lies between", found_.low, found_.high), "swap the two");
  }
  void range_to(std::initializer_list<std::string_view> between) {
    found_.kind = ConstraintKind::Range;
    found_.low = number();
    if (!failed() && !take_any(between)) return expected({std::string(*between.begin())});
    found_.high = number();
    check_range();
  }
  void of_group(ConstraintKind kind) {
    found_.kind = kind;
    found_.low = number();
  }
  void shared(ConstraintKind kind) {
    found_.kind = kind;
    want_ops(2);
  }

  void about_ops() {
    ops();
    if (failed()) return;
    if (take({"starts", "at"}) || take({"is", "at"}) || take_any({"at", "=", "=="})) return pin_here();
    if (take({"from"})) return range_to({"to", ".."});
    if (take({"between"})) return range_to({"and"});
    if (take({"not", "in", "group"})) return of_group(ConstraintKind::NotInGroup);
    if (take({"in", "group"})) return of_group(ConstraintKind::InGroup);
    if (take({"in", "a", "closed", "group"})) {
      found_.kind = ConstraintKind::ClosedGroup;
      if (found_.ops.size() != 1) fail("one op says which group is closed", "S in a closed group");
      return;
    }
    if (take({"in", "one", "group"}) || take({"in", "the", "same", "group"}) || take({"in", "same", "group"}) || take({"together"}))
      return shared(ConstraintKind::SameGroup);
    if (take({"in", "different", "groups"}) || take({"apart"})) return shared(ConstraintKind::DifferentGroup);
    if (take({"in", "one", "stage"}) || take({"in", "the", "same", "stage"}) || take({"in", "same", "stage"}))
      return shared(ConstraintKind::SameStage);
    if (take({"in", "an", "earlier", "stage", "than"})) {
      found_.low = 1;
      op();
      found_.kind = ConstraintKind::EarlierStage;
      return two_ops();
    }
    if (sees("in") && at_ + 1 < words_.size() && is_number(words_[at_ + 1].text)) return take({"in"}), range_to({".."});
    if (take({":"})) return in_order();
    if (sees("before") || sees("+") || sees("<=") || sees("<") || (sees("-") && found_.ops.size() == 1)) return before();
    if (sees("in")) {
      ++at_;
      return expected({"group", "one", "different", "the"});
    }
    if (sees("not")) return expected({"not in group"});
    expected({"at", "from", "in", "not", "before"});
  }
  void pin_here() {
    found_.kind = ConstraintKind::Pin;
    found_.low = number();
  }

  void two_ops() {
    if (!failed() && found_.ops.size() != 2)
      fail(fmt::format("an order is between two ops, found {}", found_.ops.size()), "S before O by 64");
  }
  /// After a number: whether it counts stages.
  bool take_stages() {
    if (failed() || !take_any({"stage", "stages"})) return false;
    found_.kind = ConstraintKind::EarlierStage;
    if (found_.low < 1 || found_.low > kMostStagesApart)
      fail(fmt::format("{} is not a number of stages from 1 to {}", found_.low, kMostStagesApart));
    return true;
  }
  /// "S and O: at least 64 cycles apart, in this order", "S and O: at least 2 stages apart, in this order"
  void in_order() {
    found_.kind = ConstraintKind::Before;
    two_ops();
    if (failed()) return;
    if (!take({"at", "least"})) return expected({"at least"});
    found_.low = number(-kLargestDemand);
    if (failed()) return;
    if (!take_stages() && !take_any({"cycle", "cycles"})) return expected({"cycles", "stages"});
    if (!take({"apart", ",", "in", "this", "order"})) expected({"apart, in this order"});
  }

  std::int64_t offset() {
    if (take({"+"})) return number();
    if (take({"-"})) return -number();
    return 0;
  }
  /// "S before O", "S before O by 64", "S before O by 2 stages", "S + 64 before O", "S + 64 <= O", "S <= O + 64"
  void before() {
    found_.kind = ConstraintKind::Before;
    if (found_.ops.size() != 1) return fail("an order is between two ops, one on each side", "S before O by 64");
    const std::int64_t later = found_.low = offset();
    if (failed()) return;
    const bool in_words = take({"before"});
    if (!in_words && !take({"<="})) return expected({"before", "<="});
    const std::string first = found_.ops.front();
    op();
    if (failed()) return;
    if (in_words && take({"by"})) {
      found_.low += number();
      if (later != 0 || !take_stages()) take_any({"cycle", "cycles"});
    } else if (in_words && (sees("+") || sees("-"))) {
      // Read as arithmetic it allows the second op to start first; that is not what "before" means.
      const std::string& second = found_.ops.back();
      fail("does it start that much earlier, or may it start that much later?",
           fmt::format("'{0} before {1} by N' leaves at least N cycles between; '{0} <= {1} + N' lets {0} start up to N later",
                       spoken(first), spoken(second)));
    } else {
      found_.low -= offset();
    }
  }

  std::string_view text_;
  const Problem& problem_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
  UserConstraint found_;
  Error error_;
};

}  // namespace

std::string describe(const UserConstraint& constraint) {
  std::string ops;
  for (std::size_t i = 0; i < constraint.ops.size(); ++i) {
    if (i > 0) ops += i + 1 == constraint.ops.size() ? " and " : ", ";
    ops += spoken(constraint.ops[i]);
  }
  const bool apart = constraint.kind == ConstraintKind::Before || constraint.kind == ConstraintKind::EarlierStage;
  const std::int64_t count = apart ? constraint.low : constraint.high;
  if (constraint.kind == ConstraintKind::IIRange && constraint.high == 0) return fmt::format("II at least {}", constraint.low);
  std::string rings;
  for (const StageRing& ring : constraint.rings) {
    std::string readers;
    for (const std::string& reader : ring.readers) readers += (readers.empty() ? " to " : ", ") + spoken(reader);
    rings += fmt::format("{}{}{} takes {}", rings.empty() ? ": " : "; ", spoken(ring.writer), readers, ring.bytes);
  }
  return fmt::format(fmt::runtime(sentence_of(constraint.kind)), fmt::arg("ops", ops), fmt::arg("low", constraint.low),
                     fmt::arg("high", constraint.high), fmt::arg("channel", spoken(constraint.channel)),
                     fmt::arg("s", count == 1 ? "" : "s")) +
         rings;
}

Result<UserConstraint> parse_constraint(std::string_view text, const Problem& problem) { return Parser(text, problem).run(); }

}  // namespace heddle
