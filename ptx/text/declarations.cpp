#include "ptx/text/declarations.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "ptx/text/operands.h"

namespace heddle::ptx {

namespace {

constexpr std::uint64_t kMostBytes = 1ull << 48;

std::string expected(const PtxTokens& tokens, const char* what) {
  if (tokens.at_end()) return "expected " + std::string(what) + " where the text ends";
  return "expected " + std::string(what) + " at '" + quoted(tokens.next().text) + "'";
}

void skip_brackets(PtxTokens& tokens) {
  int depth = 0;
  while (!tokens.at_end()) {
    const PtxToken token = tokens.take();
    depth += token.is('(') ? 1 : token.is(')') ? -1 : 0;
    if (depth <= 0) return;
  }
}

/// What stands before a name.
struct TypeWords {
  Scalar type = Scalar::None;
  std::uint64_t bytes = 0;  ///< of one element
  std::uint64_t align = 0;  ///< 0: not said
  bool pointer = false, in_register = false;
};

std::string read_type(PtxTokens& tokens, TypeWords& words) {
  std::uint64_t lanes = 1;
  while (tokens.next().is_directive()) {
    const std::string_view word = tokens.take().text;
    if (word == ".align") {
      const auto align = tokens.next().is_word() ? number_bits(tokens.next().text) : std::nullopt;
      if (!align || !std::has_single_bit(*align) || *align > kMostBytes) return expected(tokens, "an alignment");
      tokens.take();
      if (!words.pointer) words.align = *align;  // behind .ptr: of what it points to
    } else if (word == ".attribute") {
      skip_brackets(tokens);
    } else if (word == ".ptr") {
      words.pointer = true;
    } else if (word == ".reg") {
      words.in_register = true;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      lanes = static_cast<std::uint64_t>(word[2] - '0');
    } else if (word == ".texref" || word == ".samplerref" || word == ".surfref") {
      words.type = Scalar::B64;
    } else if (const Scalar type = scalar_of(word.substr(1)); type != Scalar::None) {
      words.type = type;
    }
  }
  if (words.type == Scalar::None) return expected(tokens, "a type");
  words.bytes = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bits_of(words.type)) / 8) * lanes;
  if (words.align == 0) words.align = words.bytes;
  return {};
}

/// "[4][8]": the product; "[]" makes it open.
std::string read_extents(PtxTokens& tokens, std::uint64_t& count, bool& open) {
  while (tokens.take_if('[')) {
    if (tokens.take_if(']')) {
      open = true;
      continue;
    }
    const auto extent = tokens.next().is_word() ? number_bits(tokens.next().text) : std::nullopt;
    if (!extent) return expected(tokens, "the number of elements");
    tokens.take();
    if (!tokens.take_if(']')) return expected(tokens, "']'");
    if (*extent != 0 && count > kMostBytes / *extent) return "an array of more than 2^48 elements";
    count *= *extent;
  }
  return {};
}

/// Numbers become bytes; where a name stands among them, what they are is not known before the program is loaded.
std::string read_contents(PtxTokens& tokens, const TypeWords& words, PtxVariable& variable) {
  const std::size_t width = std::max<std::size_t>(1, static_cast<std::size_t>(bits_of(words.type)) / 8);
  bool known = true, minus = false;
  int depth = 0;
  do {
    if (tokens.at_end()) return expected(tokens, "a value");
    const PtxToken token = tokens.take();
    if (token.is('{') || token.is('(')) ++depth;
    if (token.is('}') || token.is(')')) --depth;
    if (token.is('-')) minus = true;
    if (token.kind == PtxToken::Kind::Quoted) {
      variable.contents.insert(variable.contents.end(), token.text.begin(), token.text.end());
    }
    if (!token.is_word()) continue;
    const auto bits = number_bits(token.text, words.type);
    known = known && bits;
    const std::uint64_t value = minus ? 0 - bits.value_or(0) : bits.value_or(0);
    for (std::size_t i = 0; i < width; ++i) variable.contents.push_back(i < 8 ? static_cast<std::uint8_t>(value >> 8 * i) : 0);
    minus = false;
  } while (depth > 0 || !(tokens.next().is(',') || tokens.next().is(';')));
  if (variable.bytes == 0) variable.bytes = variable.contents.size();
  if (!known) variable.contents.clear();
  if (variable.contents.size() > variable.bytes) variable.contents.resize(variable.bytes);
  return {};
}

}  // namespace

bool variable_space(std::string_view directive, PtxVariable::Space& space) {
  if (directive == ".shared" || directive == ".shared::cta") {
    space = PtxVariable::Space::Shared;
  } else if (directive == ".global" || directive == ".tex") {
    space = PtxVariable::Space::Global;
  } else if (directive == ".const") {
    space = PtxVariable::Space::Const;
  } else if (directive == ".local" || directive == ".param") {  // parameters in a body are those of calls
    space = PtxVariable::Space::Local;
  } else {
    return false;
  }
  return true;
}

std::string read_variables(PtxTokens& tokens, PtxVariable::Space space, bool external, PtxNames& names,
                           std::vector<PtxVariable>& variables) {
  TypeWords words;
  if (std::string fault = read_type(tokens, words); !fault.empty()) return fault;
  do {
    if (!tokens.next().is_word()) return expected(tokens, "the name of a variable");
    PtxVariable variable;
    variable.name = tokens.take().text;
    variable.space = space;
    variable.align = words.align;
    std::uint64_t count = 1;
    bool open = false;
    if (std::string fault = read_extents(tokens, count, open); !fault.empty()) return fault;
    variable.external = external;
    variable.bytes = open ? 0 : count * words.bytes;
    if (tokens.take_if('=')) {
      if (std::string fault = read_contents(tokens, words, variable); !fault.empty()) return fault;
    }
    names.declare(variable.name, PtxSymbol::Kind::Variable, static_cast<int>(variables.size()));
    variables.push_back(std::move(variable));
  } while (tokens.take_if(','));
  return tokens.take_if(';') ? std::string() : expected(tokens, "';' behind a variable");
}

std::string read_parameters(PtxTokens& tokens, PtxNames& names, PtxFunction& function, std::vector<PtxParameter>& parameters) {
  if (!tokens.take_if('(')) return expected(tokens, "'('");
  if (tokens.take_if(')')) return {};
  std::uint64_t end = 0;
  do {
    TypeWords words;
    if (std::string fault = read_type(tokens, words); !fault.empty()) return fault;
    if (!tokens.next().is_word()) return expected(tokens, "the name of a parameter");
    const std::string_view name = tokens.take().text;
    std::uint64_t count = 1;
    bool open = false;
    if (std::string fault = read_extents(tokens, count, open); !fault.empty()) return fault;
    if (words.in_register) {
      names.declare(name, PtxSymbol::Kind::Register, static_cast<int>(function.registers.size()));
      function.registers.push_back({name, words.type});
      continue;
    }
    end = (end + words.align - 1) / words.align * words.align;
    names.declare(name, PtxSymbol::Kind::Parameter, static_cast<int>(parameters.size()));
    parameters.push_back({name, end, open ? 0 : count * words.bytes, words.align, words.pointer});
    end += parameters.back().bytes;
    if (end > kMostBytes) return "parameters of more than 2^48 bytes";
  } while (tokens.take_if(','));
  function.parameter_bytes = end;
  return tokens.take_if(')') ? std::string() : expected(tokens, "',' or ')' behind a parameter");
}

}  // namespace heddle::ptx
