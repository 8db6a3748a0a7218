#include "ptx/text/operands.h"

#include <bit>
#include <charconv>
#include <unordered_map>

namespace heddle::ptx {

namespace {

/// Vectors in addresses in lists of a call: no text needs more.
constexpr int kMostNested = 6;

template <class Number>
std::optional<Number> whole(std::string_view digits, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> decimal_float_bits(std::string_view word, Scalar type) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if (type == Scalar::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return std::bit_cast<std::uint64_t>(number);
}

class OperandReader {
 public:
  explicit OperandReader(OperandPlace& place) : place_(place), tokens_(place.tokens) {}

  bool read(PtxOperand& operand) {
    if (!read_single(operand)) return false;
    if (!tokens_.take_if('|')) return true;
    PtxOperand pair;
    pair.kind = PtxOperand::Kind::Pair;
    pair.parts.resize(2);
    pair.parts[0] = std::move(operand);
    if (!read_single(pair.parts[1])) return false;
    operand = std::move(pair);
    return true;
  }

  std::string fault;

 private:
  bool fails(std::string sentence) {
    if (fault.empty()) fault = std::move(sentence);
    return false;
  }
  bool expected(const char* what) {
    return fails(tokens_.at_end() ? "expected " + std::string(what) + " where the text ends"
                                  : "expected " + std::string(what) + " at '" + quoted(tokens_.next().text) + "'");
  }

  bool read_single(PtxOperand& operand) {
    const PtxToken& next = tokens_.next();
    if (next.is_word()) return read_word(operand);
    if (next.is('[')) return read_address(operand);
    if (next.is('{')) return read_list(operand, '{', '}');
    if (next.is('(')) return read_list(operand, '(', ')');
    if (next.is('!')) {
      tokens_.take();
      const std::string_view word = tokens_.next().text;
      operand.negated = true;
      if (!tokens_.next().is_word()) return expected("a predicate");
      return read_word(operand) && (operand.kind == PtxOperand::Kind::Register || fails("'" + quoted(word) + "' is no predicate"));
    }
    if (next.is('-') || next.is('+')) {
      const bool minus = next.is('-');
      tokens_.take();
      return read_signed(operand, minus);
    }
    return expected("an operand");
  }

  bool read_signed(PtxOperand& operand, bool minus) {
    const PtxToken number = tokens_.next();
    const auto bits = number.is_word() ? number_bits(number.text, place_.type) : std::nullopt;
    if (!bits) return expected("a number");
    tokens_.take();
    operand.kind = PtxOperand::Kind::Immediate;
    operand.immediate = minus ? negative(number.text, *bits) : *bits;
    return true;
  }

  /// Two's complement of an integer; the sign bit of a float.
  std::uint64_t negative(std::string_view word, std::uint64_t bits) const {
    const bool single = (word.size() == 10 && word[0] == '0' && (word[1] == 'f' || word[1] == 'F')) ||
                        (word.find('.') != std::string_view::npos && place_.type == Scalar::F32);
    const bool twice =
        (word.size() == 18 && word[0] == '0' && (word[1] == 'd' || word[1] == 'D')) || word.find('.') != std::string_view::npos;
    if (single) return bits ^ (1ull << 31);
    if (twice) return bits ^ (1ull << 63);
    return 0 - bits;
  }

  bool read_word(PtxOperand& operand) {
    const std::string_view word = tokens_.take().text;
    if (is_digit(word[0])) {
      const auto bits = number_bits(word, place_.type);
      if (!bits) return fails("'" + quoted(word) + "' is no number of 64 bits");
      operand.kind = PtxOperand::Kind::Immediate;
      operand.immediate = *bits;
      return true;
    }
    if (word == "_") return true;
    if (const PtxSymbol* symbol = place_.names.find(word, place_.function.registers)) return read_symbol(operand, *symbol, word);
    operand.special = special_of(word);
    if (operand.special == Special::None) return fails((word[0] == '%' ? "unknown register " : "unknown name ") + quoted(word));
    operand.kind = PtxOperand::Kind::Special;
    return true;
  }

  bool read_symbol(PtxOperand& operand, const PtxSymbol& symbol, std::string_view word) {
    operand.name = word;
    switch (symbol.kind) {
      case PtxSymbol::Kind::Register:
        operand.kind = PtxOperand::Kind::Register;
        operand.reg = RegisterId(static_cast<std::size_t>(symbol.index));
        return true;
      case PtxSymbol::Kind::Function: operand.kind = PtxOperand::Kind::Function; return true;
      case PtxSymbol::Kind::Variable: operand.kind = PtxOperand::Kind::Variable; break;
      case PtxSymbol::Kind::Parameter: operand.kind = PtxOperand::Kind::Parameter; break;
    }
    operand.index = symbol.index;
    return in_brackets_ ? true : read_offset(operand.offset);
  }

  /// "+4", "-4", "+-4", or nothing.
  bool read_offset(std::int64_t& offset) {
    bool minus = false;
    if (tokens_.next().is('-')) {
      minus = true;
    } else if (!tokens_.next().is('+')) {
      return true;
    }
    tokens_.take();
    if (tokens_.take_if('-')) minus = !minus;
    const PtxToken& number = tokens_.next();
    const auto bits = number.is_word() ? number_bits(number.text) : std::nullopt;
    if (!bits) return expected("a number of bytes");
    tokens_.take();
    offset = static_cast<std::int64_t>(minus ? 0 - *bits : *bits);
    return true;
  }

  bool read_address(PtxOperand& operand) {
    if (in_brackets_) return fails("an address inside an address");
    tokens_.take();
    in_brackets_ = true;
    operand.kind = PtxOperand::Kind::Address;
    operand.parts.emplace_back();
    bool good = read_single(operand.parts[0]) && read_offset(operand.offset);
    while (good && tokens_.take_if(',')) {
      operand.parts.emplace_back();
      good = read_single(operand.parts.back());
    }
    in_brackets_ = false;
    return good && (tokens_.take_if(']') || expected("',' or ']'"));
  }

  bool read_list(PtxOperand& operand, char open, char close) {
    if (++nested_ > kMostNested) return fails("lists inside lists inside lists");
    tokens_.take();
    operand.kind = PtxOperand::Kind::Vector;
    if (!tokens_.next().is(close)) {
      do {
        operand.parts.emplace_back();
        if (!read(operand.parts.back())) return false;
      } while (tokens_.take_if(','));
    }
    --nested_;
    return tokens_.take_if(close) || expected(open == '{' ? "',' or '}'" : "',' or ')'");
  }

  OperandPlace& place_;
  PtxTokens& tokens_;
  int nested_ = 0;
  bool in_brackets_ = false;
};

}  // namespace

std::optional<std::uint64_t> number_bits(std::string_view word, Scalar type) {
  if (word.size() > 1 && word[0] == '0') {
    const char kind = static_cast<char>(word[1] | 0x20);
    if (kind == 'f' && word.size() == 10) return whole<std::uint64_t>(word.substr(2), 16);
    if (kind == 'd' && word.size() == 18) return whole<std::uint64_t>(word.substr(2), 16);
  }
  const bool hexadecimal = word.size() > 2 && word[0] == '0' && (word[1] | 0x20) == 'x';
  if (!hexadecimal && word.find('.') != std::string_view::npos) return decimal_float_bits(word, type);
  if (!word.empty() && word.back() == 'U') word.remove_suffix(1);
  if (hexadecimal) return whole<std::uint64_t>(word.substr(2), 16);
  if (word.size() > 2 && word[0] == '0' && (word[1] | 0x20) == 'b') return whole<std::uint64_t>(word.substr(2), 2);
  if (word.size() > 1 && word[0] == '0') return whole<std::uint64_t>(word, 8);
  return whole<std::uint64_t>(word, 10);
}

Special special_of(std::string_view word) {
  static const std::unordered_map<std::string_view, Special> kSpecials = {
      {"%tid.x", Special::TidX},
      {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},
      {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},
      {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},
      {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},
      {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY},
      {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::Laneid},
      {"%warpid", Special::Warpid},
      {"%nwarpid", Special::Nwarpid},
      {"%cluster_ctaid.x", Special::ClusterCtaidX},
      {"%cluster_ctaid.y", Special::ClusterCtaidY},
      {"%cluster_ctaid.z", Special::ClusterCtaidZ},
      {"%cluster_nctaid.x", Special::ClusterNctaidX},
      {"%cluster_nctaid.y", Special::ClusterNctaidY},
      {"%cluster_nctaid.z", Special::ClusterNctaidZ},
      {"%cluster_ctarank", Special::ClusterCtarank},
      {"%cluster_nctarank", Special::ClusterNctarank},
      {"%clusterid.x", Special::ClusteridX},
      {"%clusterid.y", Special::ClusteridY},
      {"%clusterid.z", Special::ClusteridZ},
      {"%nclusterid.x", Special::NclusteridX},
      {"%nclusterid.y", Special::NclusteridY},
      {"%nclusterid.z", Special::NclusteridZ},
      {"%is_explicit_cluster", Special::IsExplicitCluster},
      {"%smid", Special::Smid},
      {"%nsmid", Special::Nsmid},
      {"%gridid", Special::Gridid},
      {"%lanemask_eq", Special::LanemaskEq},
      {"%lanemask_le", Special::LanemaskLe},
      {"%lanemask_lt", Special::LanemaskLt},
      {"%lanemask_ge", Special::LanemaskGe},
      {"%lanemask_gt", Special::LanemaskGt},
      {"%clock", Special::Clock},
      {"%clock_hi", Special::Other},
      {"%clock64", Special::Clock64},
      {"%globaltimer", Special::Globaltimer},
      {"%globaltimer_lo", Special::Other},
      {"%globaltimer_hi", Special::Other},
      {"%dynamic_smem_size", Special::DynamicSmemSize},
      {"%total_smem_size", Special::TotalSmemSize},
      {"%aggr_smem_size", Special::AggrSmemSize},
      {"%current_graph_exec", Special::Other},
      {"WARP_SZ", Special::WarpSize},
  };
  const auto place = kSpecials.find(word);
  if (place != kSpecials.end()) return place->second;
  for (const std::string_view counted : {"%envreg", "%pm", "%reserved_smem_offset_"}) {
    if (word.starts_with(counted) && word.size() > counted.size()) return Special::Other;
  }
  return Special::None;
}

std::string read_operand(OperandPlace& place, PtxOperand& operand) {
  OperandReader reader(place);
  reader.read(operand);
  return std::move(reader.fault);
}

std::string read_label(OperandPlace& place, PtxOperand& operand) {
  const PtxToken& next = place.tokens.next();
  if (!next.is_word() || is_digit(next.text[0])) return "expected a label at '" + quoted(next.text) + "'";
  operand.kind = PtxOperand::Kind::Label;
  operand.name = place.tokens.take().text;
  return {};
}

}  // namespace heddle::ptx
