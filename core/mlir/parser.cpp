// Reading the printed assembly line by line: regions on a stack, names by scope. An operand's definition always stands before it in the
// text, so that what follows definitions comes to an end.
#include "core/mlir/parser.h"

#include <algorithm>
#include <charconv>

namespace heddle::mlir {
namespace {

constexpr std::size_t kMostFaults = 64;
constexpr std::size_t kMostOps = std::size_t{1} << 16;
constexpr std::size_t kMostValues = std::size_t{1} << 19;
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestText = std::size_t{1} << 26;  // bytes

}  // namespace

void Parser::fault_at(std::size_t line, std::size_t byte, std::string message, std::string hint) {
  if (faults_.size() >= kMostFaults) {
    stop_ = true;
    return;
  }
  const std::size_t start = byte == 0 ? 0 : module_.text.rfind('\n', byte - 1) + 1;  // npos + 1 == 0
  faults_.push_back({module_.file, std::to_string(line) + ":" + std::to_string(byte - start + 1), std::move(message), std::move(hint)});
}

// --- values and regions

ValueId Parser::add_value(Value value) {
  if (module_.values.size() >= kMostValues) {
    if (!stop_) fault(0, "there are more than " + std::to_string(kMostValues) + " values in this text");
    stop_ = true;
    return {};
  }
  module_.values.push_back(std::move(value));
  return ValueId(module_.values.size() - 1);
}

void Parser::define(std::string_view name, std::size_t at, ValueId first, std::size_t count) {
  const std::size_t scope = frames_.empty() ? 0 : frames_.back().scope;
  Binding& binding = names_[name];
  if (binding.count > 0 && binding.scope == scope) fault(at, "%" + std::string(name) + " is defined a second time");
  undo_.emplace_back(name, binding);
  binding = {first, count, scope};
}

void Parser::open_region(OpId op, std::string label, std::int64_t warps) {
  if (frames_.size() >= kDeepest) {
    fault(0, "regions are nested deeper than " + std::to_string(kDeepest));
    stop_ = true;
    return;
  }
  const RegionId region(module_.regions.size());
  const BlockId block(module_.blocks.size());
  module_.regions.push_back({{block}, op, std::move(label), warps});
  module_.blocks.push_back({{}, {}, region});
  module_.ops[op.index()].regions.push_back(region);
  op_open_[op.index()] = true;
  frames_.push_back({op, block, opens_generic_, ++scopes_, undo_.size(), tokens_.front().line});
  for (std::size_t i = 0; i < arguments_.size() && !stop_; ++i) {
    const std::string_view name = text(arguments_[i].name).substr(1);
    const ValueId value = add_value({std::string(name), std::move(arguments_[i].type), {}, block, i, std::move(arguments_[i].attributes)});
    module_.blocks[block.index()].arguments.push_back(value);
    define(name, arguments_[i].name, value, 1);
  }
}

void Parser::close_region() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  for (; undo_.size() > frame.undo; undo_.pop_back()) {
    if (undo_.back().second.count == 0)
      names_.erase(undo_.back().first);
    else
      names_[undo_.back().first] = undo_.back().second;
  }
  if (frame.op.valid()) op_open_[frame.op.index()] = false;
}

void Parser::add_operand(Op& op, std::size_t at, bool bracketed) {
  std::string_view name = text(at).substr(1);
  std::size_t number = 0;
  if (const std::size_t hash = name.find('#'); hash != name.npos) {
    const auto [end, trouble] = std::from_chars(name.data() + hash + 1, name.data() + name.size(), number);
    if (trouble != std::errc{}) number = kNone;
    name = name.substr(0, hash);
  }
  ValueId value;
  const auto found = names_.find(name);
  if (found == names_.end()) {
    fault(at, "%" + std::string(name) + " is used before it is defined, or outside of the region that defines it");
  } else if (number >= found->second.count) {
    fault(at, std::string(text(at)) + " is used, but %" + std::string(name) + " has " + std::to_string(found->second.count) +
                  (found->second.count == 1 ? " value" : " values"));
  } else {
    value = ValueId(found->second.first.index() + number);
    const OpId definer = module_.values[value.index()].definer;
    if (definer.valid() && op_open_[definer.index()]) {
      fault(at, "%" + std::string(name) + " is used inside the op that gives it");
      value = {};
    }
  }
  op.operands.push_back(value);
  op.bracketed.push_back(bracketed);
}

void Parser::op_line() {
  std::vector<std::pair<std::size_t, std::size_t>> results;
  match_brackets(0);
  Op op;
  op.line = static_cast<int>(tokens_.front().line);
  op.span = {tokens_.front().begin, tokens_.back().end};
  std::size_t at = read_results(results);
  if (at != kNone) {
    op.name = is(at, Kind::String) ? unquoted(text(at)) : is(at, Kind::Word) ? std::string(text(at)) : std::string();
    const bool letter =
        !op.name.empty() && ((op.name[0] >= 'a' && op.name[0] <= 'z') || (op.name[0] >= 'A' && op.name[0] <= 'Z') || op.name[0] == '_');
    const bool dialect = op.name.find('.') != std::string::npos || op.name == "return" || op.name == "call" ||
                         op.name == "unrealized_conversion_cast" || op.name == "module";
    if (!letter || !dialect)
      fault(std::min(at, tokens_.size() - 1), "expected an op, as in \"tt.load\"",
            faults_.empty() && module_.ops.empty() ? "is this a text that MLIR printed?" : "");
    else
      read_rest(op, at + 1);
  }
  if (module_.ops.size() >= kMostOps) {
    fault(0, "there are more than " + std::to_string(kMostOps) + " ops in this text");
    stop_ = true;
    return;
  }
  give_types(op);
  const OpId id(module_.ops.size());
  op.parent = frames_.empty() ? BlockId() : frames_.back().block;
  std::size_t count = 0;
  for (const auto& result : results) count += result.second;
  std::size_t index = 0;
  for (const auto& [token, size] : results) {
    const std::string_view name = text(token).substr(1);
    ValueId first;
    for (std::size_t i = 0; i < size && !stop_; ++i, ++index) {
      Value value{std::string(name), {}, id, {}, index};
      if (size > 1) value.name += "#" + std::to_string(i);
      if (!op.result_types.empty()) {
        if (index < op.result_types.size()) value.type = op.result_types[index];
      } else if (count == op.types.size() || (count == 1 && !op.types.empty())) {
        value.type = op.types[index];
      }
      const ValueId added = add_value(std::move(value));
      if (i == 0) first = added;
      op.results.push_back(added);
    }
    if (!stop_) define(name, token, first, size);
  }
  const bool function = op.name == "tt.func" || op.name == "func.func";
  const std::string label = op.name == "scf.if" ? "then" : op.name == "scf.while" ? "before" : "";
  if (op.parent.valid()) module_.blocks[op.parent.index()].ops.push_back(id);
  if (function) module_.functions.push_back(id);
  module_.ops.push_back(std::move(op));
  op_open_.push_back(false);
  if (opens_) open_region(id, label, -1);
}

/// "default {", "partition0(%a: T) num_warps(4) {", "case 2 {": one more region of the op before.
bool Parser::further_region_line() {
  if (!opens_ || opens_generic_ || !is(0, Kind::Word) || text(0).find('.') != std::string_view::npos || frames_.empty()) return false;
  const BlockId block = frames_.back().block;
  if (!block.valid() || module_.blocks[block.index()].ops.empty()) return false;
  match_brackets(0);
  std::string label(text(0));
  std::int64_t warps = -1;
  for (std::size_t at = 1; at < count_;) {
    if (is_open(at) && is_mark(at, '(')) {
      read_arguments(at);
      at = match_[at] + 1;
    } else if (is_word(at, "num_warps") && is_mark(at + 1, '(') && is(at + 2, Kind::Word) && is_mark(at + 3, ')')) {
      const std::string_view digits = text(at + 2);
      if (std::from_chars(digits.data(), digits.data() + digits.size(), warps).ec != std::errc{} || warps < 1 || warps > 1024)
        fault(at + 2, "expected a number of warps, 1 to 1024");
      at += 4;
    } else if (is_location(at) && is_open(at + 1)) {
      at = match_[at + 1] + 1;
    } else if (is(at, Kind::Word)) {
      label += " " + std::string(text(at++));
    } else {
      fault(at, "expected the beginning of a region");
      break;
    }
  }
  open_region(module_.blocks[block.index()].ops.back(), std::move(label), warps);
  return true;
}

/// "^bb0(%a: T):"
void Parser::label_line() {
  match_brackets(0);
  if (frames_.empty() || !frames_.back().block.valid()) return fault(0, "a block stands outside of a region");
  if (is_mark(1, '(') && is_open(1)) read_arguments(1);
  BlockId block = frames_.back().block;
  const Block& open = module_.blocks[block.index()];
  if (!open.ops.empty() || !open.arguments.empty() || module_.regions[open.parent.index()].blocks.size() > 1) {
    const RegionId region = open.parent;
    block = BlockId(module_.blocks.size());
    module_.blocks.push_back({{}, {}, region});
    module_.regions[region.index()].blocks.push_back(block);
    frames_.back().block = block;
  }
  for (std::size_t i = 0; i < arguments_.size() && !stop_; ++i) {
    const std::string_view name = text(arguments_[i].name).substr(1);
    const ValueId value = add_value({std::string(name), std::move(arguments_[i].type), {}, block, i, std::move(arguments_[i].attributes)});
    module_.blocks[block.index()].arguments.push_back(value);
    define(name, arguments_[i].name, value, 1);
  }
}

/// "} loc(#loc)", "} else {", "}) {...} : (T) -> T", "} : (T) -> T".
void Parser::closing_line() {
  if (frames_.empty()) return fault(0, "'}' closes nothing that is open here");
  const bool generic = frames_.back().generic;
  const OpId id = frames_.back().op;
  close_region();
  std::size_t at = 1;
  if (generic && is_mark(at, ')'))
    ++at;
  else if (generic && !(is_mark(at, ',') && opens_))
    fault(0, "expected '})' behind the last region of an op in its generic form");
  match_brackets(at);
  if (generic && opens_) {  // "}, {"
    opens_generic_ = true;
    return open_region(id, {}, -1);
  }
  if (!id.valid()) return;
  Op& op = module_.ops[id.index()];
  op.span.end = tokens_.back().end;
  std::string label;
  if (opens_) {
    if (is(at, Kind::Word) && text(at).find('.') == std::string_view::npos) label = text(at++);
    if (label.empty()) fault(0, "expected the name of the region that begins here, as in \"} else {\"");
    while (at < count_ && !is_mark(at, '(')) ++at;
    if (is_open(at)) read_arguments(at);
    return open_region(id, std::move(label), -1);
  }
  const std::size_t types = op.result_types.size();
  read_rest(op, at);
  if (types == 0 && op.result_types.size() >= op.results.size())
    for (std::size_t i = 0; i < op.results.size(); ++i)
      if (op.results[i].valid()) module_.values[op.results[i].index()].type = op.result_types[i];
}

void Parser::module_line() {
  match_brackets(0);
  if (seen_module_) {
    fault(0, "a second module begins here", "only one module can be read at a time");
    stop_ = true;
    return;
  }
  seen_module_ = true;
  for (std::size_t at = 1; at < count_; ++at) {
    if (is_mark(at, '{') && is_open(at)) read_dictionary(at, module_.attributes);
    if (is_open(at)) at = match_[at];
  }
  if (opens_) frames_.push_back({{}, {}, false, ++scopes_, undo_.size(), tokens_.front().line});
}

void Parser::alias_line() {
  if (is_location(2) && tokens_.size() > 4) {
    const std::size_t close = tokens_.size() - 1;
    if (!is_mark(close, ')')) fault(close, "expected ')' at the end of a location");
    locations_.define(text(0), slice(tokens_[3].end, tokens_[close].begin));
    return;
  }
  match_brackets(2);
  if (count_ > 2)
    module_.aliases.insert_or_assign(std::string(text(0)), std::string(slice(tokens_[2].begin, tokens_[count_ - 1].end)));
  else
    fault(0, "expected what the alias stands for");
}

void Parser::take_line() {
  arguments_.clear();
  count_ = tokens_.size();
  opens_ = opens_generic_ = false;
  if ((is(0, Kind::Hash) || is(0, Kind::Type)) && is_mark(1, '=')) return alias_line();
  if (count_ > 1 && is_mark(count_ - 1, '{')) {
    opens_ = true;
    --count_;
    if (is_mark(count_ - 1, '(') && tokens_[count_ - 1].end == tokens_[count_].begin) {
      opens_generic_ = true;
      --count_;
    }
  }
  if (is_mark(0, '}')) return closing_line();
  if (is(0, Kind::Label)) return label_line();
  if (frames_.empty() && (is_word(0, "module") || is_word(0, "builtin.module"))) return module_line();
  if (further_region_line()) return;
  op_line();
}

Result<Module> Parser::parse() {
  if (module_.text.size() > kLongestText)
    return Error::in_file(module_.file, "the text has more than " + std::to_string(kLongestText >> 20) + " MiB");
  Lexer lexer(module_.text);
  while (!stop_) {
    tokens_ = lexer.next_line();
    if (tokens_.empty()) break;
    if (lexer.too_long()) {
      fault(0, "a line has more than " + std::to_string(Lexer::kLongestLine) + " words");
      break;
    }
    take_line();
  }
  if (!stop_ && !frames_.empty() && faults_.size() < kMostFaults)
    fault_at(lexer.line(), module_.text.size(),
             "the text ends inside the region that begins on line " + std::to_string(frames_.back().line), "it may have been cut off");
  if (faults_.empty() && module_.ops.empty())
    faults_.push_back({module_.file, {}, "there is no op in this text", "expected a module as MLIR prints it"});
  if (!faults_.empty()) return Error{ErrorKind::Input, std::move(faults_)};

  Locations::Resolved resolved = locations_.resolve();
  module_.locations = std::move(resolved.locations);
  for (Op& op : module_.ops) op.location = op.location == 0 ? 0 : resolved.of_number[op.location - 1];
  return std::move(module_);
}

Result<Module> parse(std::string text, std::string file) { return Parser(std::move(text), std::move(file)).parse(); }

}  // namespace heddle::mlir
