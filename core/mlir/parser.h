// The state of reading one text: core/mlir/parser.cpp goes from line to line and keeps regions and scopes, op_text.cpp reads what an op's
// line says.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/mlir/lexer.h"
#include "core/mlir/locations.h"
#include "core/mlir/module.h"

namespace heddle::mlir {

class Parser {
 public:
  Parser(std::string text, std::string file) {
    module_.file = std::move(file);
    module_.text = std::move(text);
  }
  Result<Module> parse();

 private:
  using Kind = Token::Kind;
  static constexpr std::size_t kNone = ~std::size_t{0};

  struct Binding {
    ValueId first;
    std::size_t count = 0;
    std::size_t scope = 0;  ///< which frame defined it
  };
  /// A region that is open, or the module.
  struct Frame {
    OpId op;  ///< invalid: the module
    BlockId block;
    bool generic = false;  ///< begun by "({", so it ends by "})" or "}, {"
    std::size_t scope = 0;
    std::size_t undo = 0;  ///< length of undo_ before it
    std::uint32_t line = 0;
  };
  struct Argument {
    std::size_t name = 0;  ///< token
    std::string type;
    std::vector<Attribute> attributes{};
  };

  // parser state of one line: tokens_[0 .. count_) and for each opening bracket its end
  void take_line();
  void match_brackets(std::size_t from);
  void alias_line();
  void module_line();
  void label_line();
  void closing_line();
  bool further_region_line();
  void op_line();

  std::size_t read_results(std::vector<std::pair<std::size_t, std::size_t>>& results);
  void read_rest(Op& op, std::size_t at);
  std::size_t read_types(std::size_t at, std::vector<std::string>& types);
  std::size_t read_group(Op& op, std::size_t at);
  void read_dictionary(std::size_t at, std::vector<Attribute>& attributes);
  void read_arguments(std::size_t at);
  void read_location(std::size_t at, Op& op);
  void give_types(const Op& op);

  void add_operand(Op& op, std::size_t at, bool bracketed);
  void add_words(Op& op, std::size_t from, std::size_t to);
  void define(std::string_view name, std::size_t at, ValueId first, std::size_t count);
  ValueId add_value(Value value);
  void open_region(OpId op, std::string label, std::int64_t warps);
  void close_region();

  // tokens of this line
  std::string_view text(std::size_t at) const { return slice(tokens_[at].begin, tokens_[at].end); }
  std::string_view slice(std::size_t begin, std::size_t end) const { return std::string_view(module_.text).substr(begin, end - begin); }
  bool is(std::size_t at, Kind kind) const { return at < count_ && tokens_[at].kind == kind; }
  bool is_mark(std::size_t at, char mark) const { return is(at, Kind::Mark) && tokens_[at].mark == mark; }
  bool is_word(std::size_t at, std::string_view word) const { return is(at, Kind::Word) && text(at) == word; }
  bool is_open(std::size_t at) const { return is(at, Kind::Mark) && match_[at] != kNone; }
  bool touches(std::size_t at) const { return at > 0 && at < count_ && tokens_[at - 1].end == tokens_[at].begin; }
  bool is_location(std::size_t at) const { return is_word(at, "loc") && is_mark(at + 1, '(') && touches(at + 1); }

  void fault(std::size_t at, std::string message, std::string hint = {}) {
    const Token& token = at < tokens_.size() ? tokens_[at] : tokens_.back();
    fault_at(token.line, token.begin, std::move(message), std::move(hint));
  }
  void fault_at(std::size_t line, std::size_t byte, std::string message, std::string hint = {});

  Module module_;
  Locations locations_;
  std::vector<Fault> faults_;
  bool stop_ = false;

  std::vector<Token> tokens_;
  std::vector<std::size_t> match_;   ///< of opening brackets: the token that closes it; else kNone
  std::vector<std::size_t> values_;  ///< how many Value tokens stand before each
  std::size_t count_ = 0;            ///< tokens of the line without the bracket that begins a region
  bool opens_ = false, opens_generic_ = false;

  std::vector<Argument> arguments_;  ///< of the region that this line begins
  std::vector<Frame> frames_;
  std::unordered_map<std::string_view, Binding> names_;
  std::vector<std::pair<std::string_view, Binding>> undo_;
  std::vector<bool> op_open_;  ///< a region of it is open, so that its results are not there yet
  std::size_t scopes_ = 0;
  bool seen_module_ = false;
};

}  // namespace heddle::mlir
