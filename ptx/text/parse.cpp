#include "ptx/text/parse.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "ptx/text/body.h"
#include "ptx/text/control.h"
#include "ptx/text/declarations.h"
#include "ptx/text/names.h"
#include "ptx/text/operands.h"
#include "ptx/text/tokens.h"

namespace heddle::ptx {

namespace {

constexpr std::size_t kMostFiles = 65536;

/// Reads what stands outside of functions. A member that is false has said why.
class ModuleReader {
 public:
  ModuleReader(PtxModule& module, std::string_view text) : module_(module), tokens_(text) {}

  bool read() {
    while (!tokens_.at_end()) {
      const PtxToken next = tokens_.next();
      if (next.is(';')) {
        tokens_.take();
      } else if (!next.is_directive()) {
        return fails("expected a directive at '" + quoted(next.text) + "'", next.line);
      } else if (!read_directive()) {
        return false;
      }
    }
    if (!tokens_.broken().empty()) return fails(std::string(tokens_.broken()), tokens_.next().line);
    if (module_.functions.empty()) return fails("expected a function (.entry or .func); there is none", tokens_.next().line);
    return true;
  }

  std::string sentence;
  int line = 0;

 private:
  bool fails(std::string what, int where) {
    if (!tokens_.broken().empty()) {
      what = tokens_.broken();
      where = tokens_.next().line;
    }
    sentence = std::move(what);
    line = where;
    return false;
  }

  bool read_directive() {
    const PtxToken directive = tokens_.take();
    const std::string_view word = directive.text;
    PtxVariable::Space space{};
    if (word == ".version") {
      if (tokens_.next().is_word() && !tokens_.next().is_directive()) module_.version = tokens_.take().text;
    } else if (word == ".target") {
      if (tokens_.next().is_word() && !tokens_.next().is_directive()) module_.target = tokens_.take().text;
      skip_rest(directive.line);
    } else if (word == ".file") {
      read_file();
    } else if (word == ".section") {
      return skip_section(directive.line);
    } else if (word == ".extern" || word == ".visible" || word == ".weak" || word == ".common") {
      external_ = external_ || word == ".extern";
    } else if (variable_space(word, space)) {
      std::string fault = read_variables(tokens_, space, std::exchange(external_, false), names_, module_.variables);
      if (!fault.empty()) return fails(std::move(fault), tokens_.next().line);
    } else if (word == ".entry" || word == ".func") {
      external_ = false;
      return read_function(word == ".entry", directive.line);
    } else {
      skip_rest(directive.line);
    }
    return true;
  }

  /// A directive that says nothing here: what stands on its line, and behind a comma at the line's end.
  void skip_rest(int here) {
    while (!tokens_.at_end() && (tokens_.next().line == here || tokens_.next().is(','))) {
      const PtxToken token = tokens_.take();
      if (token.is(';')) return;
      if (token.is(',')) here = tokens_.next().line;
    }
  }

  void read_file() {
    const auto number = tokens_.next().is_word() ? number_bits(tokens_.next().text) : std::nullopt;
    if (!number) return;
    tokens_.take();
    if (tokens_.next().kind != PtxToken::Kind::Quoted) return;
    std::string name(tokens_.take().text);
    if (tokens_.next().kind == PtxToken::Kind::Quoted) name += "/" + std::string(tokens_.take().text);  // a folder, then a file of it
    if (*number < kMostFiles) {
      module_.files.resize(std::max(module_.files.size(), static_cast<std::size_t>(*number) + 1));
      module_.files[static_cast<std::size_t>(*number)] = name;
    }
    while (tokens_.take_if(',')) {  // time and size of the file
      if (tokens_.next().is_word()) tokens_.take();
    }
  }

  bool skip_section(int where) {
    while (!tokens_.at_end() && !tokens_.next().is('{')) tokens_.take();
    return skip_braces(where);
  }

  bool skip_braces(int where) {
    int depth = 0;
    while (!tokens_.at_end()) {
      const PtxToken token = tokens_.take();
      depth += token.is('{') ? 1 : token.is('}') ? -1 : 0;
      if (depth == 0) return true;
    }
    return fails("the section that begins here does not end", where);
  }

  bool read_function(bool entry, int where) {
    PtxFunction function;
    function.entry = entry;
    names_.open();
    std::string_view name;
    const bool good = read_head(function, where);
    if (good) {
      name = function.name;
      names_.declare(name, PtxSymbol::Kind::Function, -1);  // it may call itself
    }
    const bool whole = good && read_rest(std::move(function));
    names_.close();
    if (whole) names_.declare(name, PtxSymbol::Kind::Function, -1);
    return whole;
  }

  /// "(.param .b32 result) name (parameters)"
  bool read_head(PtxFunction& function, int where) {
    while (tokens_.take_if(".attribute")) {
      while (!tokens_.at_end() && !tokens_.take().is(')')) {
      }
    }
    if (tokens_.next().is('(')) {
      std::vector<PtxParameter> results;
      std::string fault = read_parameters(tokens_, names_, function, results);
      if (!fault.empty()) return fails(std::move(fault), tokens_.next().line);
      function.parameter_bytes = 0;
      for (const PtxParameter& result : results) {  // in a body, a place in local memory like any other
        names_.declare(result.name, PtxSymbol::Kind::Variable, static_cast<int>(module_.variables.size()));
        module_.variables.push_back({result.name, PtxVariable::Space::Local, result.bytes, result.align, false, {}});
      }
    }
    if (!tokens_.next().is_word() || tokens_.next().is_directive())
      return fails("expected the name of the function that begins here", where);
    function.name = tokens_.take().text;
    if (!tokens_.next().is('(')) return true;
    std::string fault = read_parameters(tokens_, names_, function, function.parameters);
    return fault.empty() || fails(std::move(fault), tokens_.next().line);
  }

  /// Attributes, then a body, or a semicolon where it is only announced.
  bool read_rest(PtxFunction function) {
    while (!tokens_.next().is('{')) {
      const PtxToken next = tokens_.next();
      if (next.is(';')) {
        tokens_.take();
        return true;
      }
      if (!next.is_directive()) return fails("expected '{' at '" + quoted(next.text) + "'", next.line);
      tokens_.take();
      read_attribute(next.text, function);
    }
    const int opened = tokens_.take().line;
    BodyFault fault = read_body(tokens_, names_, module_, function, opened);
    if (!fault.sentence.empty()) return fails(std::move(fault.sentence), fault.line);
    find_meets(function);
    find_needed(function);
    module_.functions.push_back(std::move(function));
    return true;
  }

  void read_attribute(std::string_view word, PtxFunction& function) {
    if (word == ".pragma") {
      do {
        if (tokens_.next().kind == PtxToken::Kind::Quoted) tokens_.take();
      } while (tokens_.take_if(','));
      tokens_.take_if(';');
      return;
    }
    std::uint32_t numbers[3] = {1, 1, 1};
    int count = 0;
    while (tokens_.next().is_word() && !tokens_.next().is_directive()) {
      const auto number = number_bits(tokens_.take().text);
      if (number && count < 3) numbers[count] = static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, 0xFFFFFFFF));
      ++count;
      if (!tokens_.take_if(',')) break;
    }
    if (count == 0) return;
    if (word == ".reqntid" || (word == ".maxntid" && !function.threads_required)) {
      std::copy(numbers, numbers + 3, function.threads);
      function.threads_required = word == ".reqntid";
    } else if (word == ".reqnctapercluster") {
      std::copy(numbers, numbers + 3, function.cluster);
    } else if (word == ".maxnreg") {
      function.maxnreg = numbers[0];
    }
  }

  PtxModule& module_;
  PtxTokens tokens_;
  PtxNames names_;
  bool external_ = false;
};

}  // namespace

Result<PtxModule> parse(std::string text, const std::string& file) {
  PtxModule module;
  module.text = std::make_shared<const std::string>(std::move(text));
  std::string_view all = *module.text;
  if (all.starts_with("\xEF\xBB\xBF")) all.remove_prefix(3);  // what some editors put before UTF-8
  ModuleReader reader(module, all);
  if (!reader.read()) return Error::in_file(file, "line " + std::to_string(reader.line) + ": " + reader.sentence);
  return module;
}

}  // namespace heddle::ptx
