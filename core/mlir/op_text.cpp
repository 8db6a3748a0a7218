// What the line of an op says: results, operands, words, dictionaries and types, whatever the op.
#include <algorithm>

#include "core/base/scanner.h"
#include "core/mlir/parser.h"

namespace heddle::mlir {
namespace {

constexpr std::size_t kLargestPack = 4096;

char closer_of(char opener) { return opener == '(' ? ')' : opener == '[' ? ']' : opener == '<' ? '>' : '}'; }

}  // namespace

void Parser::match_brackets(std::size_t from) {
  match_.assign(tokens_.size(), kNone);
  values_.assign(tokens_.size() + 1, 0);
  std::vector<std::size_t> open;
  bool broken = false;
  for (std::size_t i = 0; i < count_; ++i) {
    const Token& token = tokens_[i];
    values_[i + 1] = values_[i] + (token.kind == Kind::Value ? 1 : 0);
    if (token.broken && !broken) {
      fault(i, "a string does not end on its line");
      broken = true;
    }
    if (i < from || token.kind != Kind::Mark || broken) continue;
    const char mark = token.mark;
    if (mark == '(' || mark == '[' || mark == '<' || mark == '{') {
      open.push_back(i);
    } else if (mark == ')' || mark == ']' || mark == '>' || mark == '}') {
      if (open.empty() || closer_of(tokens_[open.back()].mark) != mark) {
        fault(i, std::string("'") + mark + "' closes nothing that is open here");
        broken = true;
        continue;
      }
      match_[open.back()] = i;
      open.pop_back();
    }
  }
  if (!open.empty() && !broken) fault(open.back(), std::string("'") + tokens_[open.back()].mark + "' is not closed on this line");
}

std::size_t Parser::read_types(std::size_t at, std::vector<std::string>& types) {
  std::size_t begin = kNone, last = 0, end = count_;
  const auto flush = [&] {
    if (begin != kNone) types.emplace_back(slice(tokens_[begin].begin, tokens_[last].end));
    begin = kNone;
  };
  const bool enclosed = is_mark(at, '(') && is_open(at);
  if (enclosed) end = match_[at++];
  while (at < end) {
    if (!enclosed && (is(at, Kind::Arrow) || is_mark(at, ':') || is_word(at, "to") || is_word(at, "attributes") || is_location(at) ||
                      (is_mark(at, '{') && begin != last + 1)))
      break;
    if (is_mark(at, ',') || is_mark(at, '*')) {
      flush();
      ++at;
      continue;
    }
    if (begin == kNone) begin = at;
    if (is_open(at)) at = match_[at];
    last = at++;
  }
  flush();
  return enclosed ? end + 1 : at;
}

void Parser::read_dictionary(std::size_t at, std::vector<Attribute>& attributes) {
  const std::size_t end = match_[at++];
  while (at < end) {
    const std::size_t name = at;
    std::size_t value = kNone;
    for (; at < end && !is_mark(at, ','); ++at) {
      if (is_mark(at, '=') && value == kNone) value = at + 1;
      if (is_open(at)) at = match_[at];
    }
    if (name == at || (!is(name, Kind::Word) && !is(name, Kind::String)) ||
        (value == kNone ? name + 1 != at : value != name + 2 || value == at)) {
      fault(name, "expected an attribute: name = value");
    } else {
      Attribute attribute;
      attribute.name = is(name, Kind::String) ? unquoted(text(name)) : std::string(text(name));
      if (value != kNone) attribute.value = slice(tokens_[value].begin, tokens_[at - 1].end);
      attribute.span = {tokens_[name].begin, tokens_[at - 1].end};
      attributes.push_back(std::move(attribute));
    }
    if (at < end) ++at;
  }
}

/// "(%a: T {...} loc(...), %b: T)": arguments of the block that begins on this line.
void Parser::read_arguments(std::size_t at) {
  const std::size_t end = match_[at++];
  while (at < end) {
    const std::size_t name = at;
    const bool good = is(name, Kind::Value) && is_mark(name + 1, ':');
    if (!good && opens_) fault(name, "expected an argument: %name: type");  // a declaration may give types alone
    std::size_t begin = kNone, last = 0;
    bool in_type = true;
    std::vector<Attribute> attributes;
    for (at = good ? name + 2 : name; at < end && !is_mark(at, ','); ++at) {
      if (is_location(at) || (is_mark(at, '{') && begin != kNone)) in_type = false;
      if (in_type && begin == kNone) begin = at;
      if (is_mark(at, '{') && is_open(at) && !in_type) read_dictionary(at, attributes);
      if (is_open(at)) at = match_[at];
      if (in_type) last = at;
    }
    if (good)
      arguments_.push_back(
          {name, begin == kNone ? std::string() : std::string(slice(tokens_[begin].begin, tokens_[last].end)), std::move(attributes)});
    if (at < end) ++at;
  }
}

void Parser::read_location(std::size_t at, Op& op) {
  const std::size_t end = match_[at + 1];
  op.location = locations_.ask(slice(tokens_[at + 1].end, tokens_[end].begin)) + 1;  // 0 stays "none" until all are resolved
}

void Parser::add_words(Op& op, std::size_t from, std::size_t to) {
  if (!op.words.empty() && !touches(from)) op.words += ' ';
  op.words += slice(tokens_[from].begin, tokens_[to].end);
}

/// Brackets among the operands. Answers with the token to go on with: behind the group, or inside of it where it has operands.
std::size_t Parser::read_group(Op& op, std::size_t at) {
  const std::size_t end = match_[at];
  if (values_[end] > values_[at]) return at + 1;
  if (end > at + 1) add_words(op, at, end);
  return end + 1;
}

/// What follows an op's name, or the end of its last region.
void Parser::read_rest(Op& op, std::size_t at) {
  const bool loop = op.name == "scf.for";
  const bool function = op.name == "tt.func" || op.name == "func.func" || op.name == "llvm.func";
  std::vector<std::size_t> ends;  // of the brackets around `at`
  std::size_t squares = 0;
  bool had_arguments = false, placed = false;
  const auto place_dictionary = [&] {
    if (!placed && at > 0) op.dictionary_place = tokens_[at - 1].end;
    placed = true;
  };
  while (at < count_) {
    if (!ends.empty() && at == ends.back()) {
      if (is_mark(at, ']')) --squares;
      ends.pop_back();
      ++at;
      continue;
    }
    const bool outside = ends.empty();
    if (is(at, Kind::Value)) {
      if (is_mark(at + 1, '=')) {  // an argument of the region, with the value it begins with: `scf.for %i = %low to ...`
        arguments_.push_back({at, {}});
        at += 2;
        continue;
      }
      add_operand(op, at, squares > 0);
      ++at;
    } else if (is_mark(at, ',')) {
      const bool behind_operand = is(at - 1, Kind::Value) || is_mark(at - 1, ']') || is_mark(at - 1, ')');
      if (!behind_operand && !op.words.empty() && touches(at)) op.words += ',';
      ++at;
    } else if (outside && is_location(at) && is_open(at + 1)) {
      place_dictionary();
      read_location(at, op);
      at = match_[at + 1] + 1;
    } else if (outside && is_mark(at, ':') && !is(at + 1, Kind::Value)) {
      place_dictionary();
      at = read_types(at + 1, op.types);
    } else if (outside && is(at, Kind::Arrow)) {
      place_dictionary();
      at = read_types(at + 1, op.result_types);
    } else if (outside && is_word(at, "to") && !loop && !op.types.empty()) {
      at = read_types(at + 1, op.result_types);
    } else if (outside && is_mark(at, '<') && is_mark(at + 1, '{') && is_open(at) && touches(at + 1) &&
               !(touches(at) && is(at - 1, Kind::Hash))) {
      if (is_open(at + 1)) read_dictionary(at + 1, op.attributes);
      at = match_[at] + 1;
    } else if (outside && is_mark(at, '{') && is_open(at)) {
      read_dictionary(at, op.attributes);
      op.dictionary = {tokens_[at].begin, tokens_[match_[at]].end};
      at = match_[at] + 1;
    } else if (outside && is_word(at, "attributes") && is_mark(at + 1, '{')) {
      ++at;
    } else if (outside && function && !had_arguments && is_mark(at, '(') && is_open(at)) {
      had_arguments = true;
      read_arguments(at);
      at = match_[at] + 1;
    } else if (is_open(at)) {
      const std::size_t end = match_[at], inside = read_group(op, at);
      if (inside == at + 1 && end > at) {
        if (is_mark(at, '[')) ++squares;
        ends.push_back(end);
      }
      at = inside;
    } else if (loop && (is_word(at, "to") || is_word(at, "step") || is_word(at, "iter_args"))) {
      ++at;
    } else {
      if (!is_mark(at, ':')) add_words(op, at, at);
      ++at;
    }
  }
  place_dictionary();
}

/// Types of the block arguments that the first line of a loop defines.
void Parser::give_types(const Op& op) {
  const bool loop = op.name == "scf.for";
  const std::vector<std::string>& carried = loop ? op.result_types : op.types;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].type.empty()) continue;
    if (loop && i == 0)
      arguments_[i].type = op.types.empty() ? "index" : op.types.back();
    else if (i - (loop ? 1 : 0) < carried.size())
      arguments_[i].type = carried[i - (loop ? 1 : 0)];
  }
}

std::size_t Parser::read_results(std::vector<std::pair<std::size_t, std::size_t>>& results) {
  std::size_t at = 0;
  if (!is(0, Kind::Value)) return 0;
  while (true) {
    if (!is(at, Kind::Value) || text(at).find('#') != std::string_view::npos) {
      fault(at, "expected a result: %name");
      return kNone;
    }
    const std::size_t name = at++;
    std::size_t count = 1;
    if (is_mark(at, ':')) {
      const std::string_view digits = is(at + 1, Kind::Word) ? text(at + 1) : std::string_view();
      count = read_number<std::size_t>(digits).value_or(0);
      if (count == 0 || count > kLargestPack) {
        fault(at, "expected how many values the name stands for, 1 to " + std::to_string(kLargestPack));
        results.emplace_back(name, 1);
        return kNone;
      }
      at += 2;
    }
    results.emplace_back(name, count);
    if (is_mark(at, '=')) return at + 1;
    if (!is_mark(at, ',')) {
      fault(std::min(at, tokens_.size() - 1), "expected '=' and an op behind its results");
      return kNone;
    }
    ++at;
  }
}

}  // namespace heddle::mlir
