#include "ptx/text/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

#include "ptx/text/declarations.h"
#include "ptx/text/operand_count.h"
#include "ptx/text/operands.h"

namespace heddle::ptx {

namespace {

constexpr int kMostDepth = 200;
constexpr std::size_t kLongestMnemonic = 256;  // the longest of PTX has less than half of it

std::vector<std::string_view> words_of(std::string_view mnemonic) {
  std::vector<std::string_view> words;
  words.reserve(static_cast<std::size_t>(std::count(mnemonic.begin(), mnemonic.end(), '.')) + 1);
  for (;;) {
    const std::size_t dot = mnemonic.find('.');
    words.push_back(mnemonic.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    mnemonic.remove_prefix(dot + 1);
  }
}

/// Labels of a function, each in its scope; what names them is resolved when all are known.
class PtxLabels {
 public:
  void open() {
    parents_.push_back(scope_);
    scope_ = static_cast<int>(parents_.size()) - 1;
    labels_.emplace_back();
  }
  void close() { scope_ = parents_[static_cast<std::size_t>(scope_)]; }
  int scope() const { return scope_; }

  struct Meaning {
    int pc = 0;
    bool twice = false;
    std::vector<std::string_view> table;  ///< of .branchtargets
  };
  Meaning& declare(std::string_view name, int pc) {
    const auto [place, fresh] = labels_[static_cast<std::size_t>(scope_)].try_emplace(name);
    place->second.twice = !fresh;
    place->second.pc = pc;
    return place->second;
  }
  /// The label of that name that is meant in `scope`, which becomes the scope that it stands in; nullptr: none.
  const Meaning* find(std::string_view name, int& scope) const {
    for (; scope >= 0; scope = parents_[static_cast<std::size_t>(scope)]) {
      const auto& own = labels_[static_cast<std::size_t>(scope)];
      const auto place = own.find(name);
      if (place != own.end()) return &place->second;
    }
    return nullptr;
  }

 private:
  std::vector<int> parents_;
  std::deque<std::unordered_map<std::string_view, Meaning>> labels_;  ///< by scope; they stay where they are
  int scope_ = -1;
};

class BodyReader {
 public:
  BodyReader(PtxTokens& tokens, PtxNames& names, PtxModule& module, PtxFunction& function)
      : tokens_(tokens), names_(names), module_(module), function_(function) {}

  BodyFault read(int line) {
    std::vector<int> opened{line};
    open();
    while (!opened.empty()) {
      if (!fault_.sentence.empty()) return fault_;
      const PtxToken& next = tokens_.next();
      if (tokens_.at_end()) return at_end(opened.back());
      if (next.is('{')) {
        if (opened.size() >= kMostDepth) return {"more than 200 braces inside each other", next.line};
        opened.push_back(tokens_.take().line);
        open();
      } else if (next.is('}')) {
        opened.pop_back();
        close();
        tokens_.take();
      } else if (!tokens_.take_if(';')) {
        read_statement();
      }
    }
    resolve_labels();
    return {};
  }

 private:
  BodyFault at_end(int opened) const {
    if (!tokens_.broken().empty()) return {std::string(tokens_.broken()), tokens_.next().line};
    return {"the brace that opens here does not close", opened};
  }
  void open() {
    names_.open();
    labels_.open();
  }
  void close() {
    names_.close();
    labels_.close();
  }

  void read_statement() {
    const PtxTokens begin = tokens_;
    const PtxToken first = tokens_.next();
    if (first.is_directive()) {
      tokens_.take();
      if (first.text == ".loc") {
        read_loc();
      } else if (!read_directive(first.text)) {
        skip_statement(begin);
      }
      return;
    }
    if (first.is_word()) {
      tokens_.take();
      if (tokens_.take_if(':')) {
        last_label_ = &labels_.declare(first.text, static_cast<int>(function_.code.size()));
        return;
      }
      tokens_ = begin;
    }
    read_instruction(begin);
  }

  /// From the statement's first token behind its semicolon, or up to the brace that ends its scope.
  void skip_statement(const PtxTokens& begin) {
    tokens_ = begin;
    int depth = 0;
    while (!tokens_.at_end()) {
      const PtxToken& next = tokens_.next();
      if (next.is('}') && depth == 0) return;
      depth += next.is('{') ? 1 : next.is('}') ? -1 : 0;
      if (tokens_.take().is(';')) return;
    }
  }

  bool read_directive(std::string_view word) {
    PtxVariable::Space space{};
    if (word == ".reg") return read_registers();
    if (variable_space(word, space)) return read_variables_of(space, word == ".param");
    if (word == ".branchtargets") return read_table();
    return false;
  }

  /// What is wrong with a variable is wrong with all that names it; parameters of calls are not followed.
  bool read_variables_of(PtxVariable::Space space, bool of_call) {
    const int line = tokens_.next().line;
    std::string fault = read_variables(tokens_, space, false, names_, module_.variables);
    if (!of_call && !fault.empty()) fault_ = {fault, line};
    return fault.empty();
  }

  /// ".reg .b32 %r<90>, a, b;"
  bool read_registers() {
    Scalar type = Scalar::None;
    while (tokens_.next().is_directive()) type = scalar_of(tokens_.take().text.substr(1));
    if (type == Scalar::None) return false;
    do {
      if (!tokens_.next().is_word()) return false;
      const std::string_view name = tokens_.take().text;
      if (tokens_.take_if('<')) {
        const auto count = tokens_.next().is_word() ? number_bits(tokens_.take().text) : std::nullopt;
        if (!count || !tokens_.take_if('>')) return false;
        names_.declare_registers(name, *count, type);
      } else {
        names_.declare(name, PtxSymbol::Kind::Register, static_cast<int>(function_.registers.size()));
        function_.registers.push_back({name, type});
      }
    } while (tokens_.take_if(','));
    return tokens_.take_if(';');
  }

  bool read_table() {
    if (!last_label_) return false;
    last_label_->table.clear();
    do {
      if (!tokens_.next().is_word()) return false;
      last_label_->table.push_back(tokens_.take().text);
    } while (tokens_.take_if(','));
    return tokens_.take_if(';');
  }

  bool read_numbers(int (&numbers)[3]) {
    for (int& number : numbers) {
      const auto bits = tokens_.next().is_word() ? number_bits(tokens_.next().text) : std::nullopt;
      if (!bits) return false;
      tokens_.take();
      number = static_cast<int>(std::min<std::uint64_t>(*bits, 0x7FFFFFFF));
    }
    return true;
  }

  /// ".loc file line column [, function_name label [+ bytes], inlined_at file line column]": no semicolon ends it.
  void read_loc() {
    int numbers[3];
    if (!read_numbers(numbers)) return;
    int inlined_into = -1;
    if (tokens_.take_if(',') && tokens_.take_if("function_name")) {
      if (tokens_.next().is_word()) tokens_.take();
      if (tokens_.take_if('+')) tokens_.take();
      int caller[3];
      if (tokens_.take_if(',') && tokens_.take_if("inlined_at") && read_numbers(caller)) {
        const auto place = last_place_.find({caller[0], caller[1], caller[2]});
        inlined_into = place != last_place_.end() ? place->second : place_of(caller, -1);
      }
    }
    place_ = place_of(numbers, inlined_into);
  }

  int place_of(const int (&numbers)[3], int inlined_into) {
    const int next = static_cast<int>(function_.places.size());
    const auto [place, fresh] = places_.try_emplace({numbers[0], numbers[1], numbers[2], inlined_into}, next);
    if (fresh) function_.places.push_back({numbers[0], numbers[1], numbers[2], inlined_into});
    last_place_[{numbers[0], numbers[1], numbers[2]}] = place->second;
    return place->second;
  }

  void read_instruction(const PtxTokens& begin) {
    PtxInstruction instruction;
    instruction.line = tokens_.next().line;
    instruction.place = place_;
    const char* first = tokens_.next().text.data();
    instruction.fault = read_parts(instruction);
    if (instruction.fault.empty() && !tokens_.next().is(';')) {
      instruction.fault = "expected ',' or ';' at '" + quoted(tokens_.next().text) + "'";
    }
    if (const std::size_t least = least_operands(instruction.opcode); instruction.fault.empty() && instruction.operands.size() < least)
      instruction.fault = fmt::format("needs {} operands at least, has {}", least, instruction.operands.size());
    if (!instruction.fault.empty()) skip_statement(begin);
    instruction.text = std::string_view(first, static_cast<std::size_t>(std::max(tokens_.taken_end(), first) - first));
    if (instruction.fault.empty()) tokens_.take();
    function_.code.push_back(std::move(instruction));
  }

  std::string read_parts(PtxInstruction& instruction) {
    if (tokens_.take_if('@')) {
      instruction.guard_negated = tokens_.take_if('!');
      if (!tokens_.next().is_word()) return "expected a predicate at '" + quoted(tokens_.next().text) + "'";
      const std::string_view name = tokens_.take().text;
      const PtxSymbol* symbol = names_.find(name, function_.registers);
      if (!symbol || symbol->kind != PtxSymbol::Kind::Register) return "unknown register " + quoted(name);
      instruction.guard = RegisterId(static_cast<std::size_t>(symbol->index));
    }
    const PtxToken& word = tokens_.next();
    if (!word.is_word() || word.text[0] < 'a' || word.text[0] > 'z' || word.text.size() > kLongestMnemonic)
      return "no instruction begins with '" + quoted(word.text) + "'";
    instruction.mnemonic = tokens_.take().text;
    instruction.words = words_of(instruction.mnemonic);
    instruction.row = find_opcode(instruction.mnemonic);
    if (instruction.row) instruction.opcode = instruction.row->opcode;
    if (instruction.opcode == Opcode::Call) return read_call(instruction);
    return read_operands(instruction);
  }

  std::string read_operands(PtxInstruction& instruction) {
    if (tokens_.next().is(';')) return {};
    OperandPlace place{tokens_, names_, function_, scalar_of(instruction.words.back())};
    const bool jumps = instruction.opcode == Opcode::Bra, by_table = instruction.opcode == Opcode::Brx;
    do {
      PtxOperand& operand = instruction.operands.emplace_back();
      const bool label = jumps || (by_table && instruction.operands.size() == 2);
      std::string fault = label ? read_label(place, operand) : read_operand(place, operand);
      if (!fault.empty()) return fault;
    } while (tokens_.take_if(','));
    if (jumps && instruction.operands.size() != 1) return "a branch has one target";
    if (by_table && instruction.operands.size() != 2) return "expected an index and a table of targets";
    if (jumps || by_table) waiting_.push_back({static_cast<int>(function_.code.size()), labels_.scope()});
    return {};
  }

  /// "call (result), function, (arguments), prototype;": a name that nobody declared is a prototype's label.
  std::string read_call(PtxInstruction& instruction) {
    OperandPlace place{tokens_, names_, function_, Scalar::None};
    if (tokens_.next().is(';')) return "expected a function";
    do {
      PtxOperand& operand = instruction.operands.emplace_back();
      const PtxToken& next = tokens_.next();
      const bool unknown = next.is_word() && !names_.find(next.text, function_.registers);
      std::string fault = unknown ? read_label(place, operand) : read_operand(place, operand);
      if (!fault.empty()) return fault;
    } while (tokens_.take_if(','));
    return {};
  }

  void resolve_labels() {
    for (const auto& [pc, scope] : waiting_) {
      PtxInstruction& instruction = function_.code[static_cast<std::size_t>(pc)];
      if (!instruction.fault.empty()) continue;
      int from = scope;
      const std::string_view name = instruction.operands.back().name;
      const PtxLabels::Meaning* label = labels_.find(name, from);
      if (instruction.opcode == Opcode::Bra) {
        add_target(instruction, name, label);
      } else if (!label || label->table.empty()) {
        instruction.fault = "no .branchtargets at label " + quoted(name);
      } else {
        for (const std::string_view target : label->table) {
          int inside = from;
          add_target(instruction, target, labels_.find(target, inside));
        }
      }
    }
  }

  static void add_target(PtxInstruction& instruction, std::string_view name, const PtxLabels::Meaning* label) {
    if (!label || label->twice) {
      instruction.fault = (label ? "two labels are called " : "unknown label ") + quoted(name);
      return;
    }
    instruction.targets.push_back(label->pc);
  }

  PtxTokens& tokens_;
  PtxNames& names_;
  PtxModule& module_;
  PtxFunction& function_;
  PtxLabels labels_;
  BodyFault fault_;
  PtxLabels::Meaning* last_label_ = nullptr;  ///< what .branchtargets belongs to
  struct Waiting {
    int pc, scope;
  };
  std::vector<Waiting> waiting_;  ///< branches whose labels are to be found
  int place_ = -1;
  std::map<std::tuple<int, int, int, int>, int> places_;
  std::map<std::tuple<int, int, int>, int> last_place_;
};

}  // namespace

BodyFault read_body(PtxTokens& tokens, PtxNames& names, PtxModule& module, PtxFunction& function, int line) {
  return BodyReader(tokens, names, module, function).read(line);
}

}  // namespace heddle::ptx
