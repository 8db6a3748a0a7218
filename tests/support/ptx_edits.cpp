// Changes of a PTX text after which it does what it did.
#include <algorithm>
#include <array>
#include <random>

#include "tests/support/ptx_mutants.h"
#include "tests/support/ptx_statements.h"

namespace heddle::test {

namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

class HarmlessEdits {
 public:
  HarmlessEdits(std::string_view text, std::uint64_t seed) : text_(text), statements_(ptx_statements(text)), random_(seed) {}

  std::vector<PtxMutant> make(int count) {
    using Edit = bool (HarmlessEdits::*)();
    static constexpr std::array<Edit, 8> kEdits = {&HarmlessEdits::rename,     &HarmlessEdits::swap,       &HarmlessEdits::move_to_itself,
                                                   &HarmlessEdits::comment,    &HarmlessEdits::blank_line, &HarmlessEdits::wait_twice,
                                                   &HarmlessEdits::more_fence, &HarmlessEdits::more_label};
    for (int i = 0; i < count && !statements_.empty(); ++i) {
      const Edit edit = kEdits[static_cast<std::size_t>(i) % kEdits.size()];
      bool made = false;
      for (int tries = 0; tries < kMostTries && !made; ++tries) made = (this->*edit)();
      if (!made) comment();  // the text has nothing of that kind
    }
    return std::move(edits_);
  }

 private:
  static constexpr int kMostTries = 500;

  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  const PtxStatement& any() { return statements_[below(statements_.size())]; }
  std::string words(const PtxStatement& statement) const {
    return std::string(text_.substr(statement.begin, statement.end - statement.begin));
  }

  bool put(const char* kind, int line, std::size_t begin, std::size_t end, const std::string& instead) {
    edits_.push_back({kind, line, std::string(text_.substr(0, begin)) + instead + std::string(text_.substr(end))});
    return true;
  }

  /// All registers of one family: "%r12" is called "%other12".
  bool rename() {
    static constexpr std::array<std::string_view, 5> kFamilies = {"%r", "%rd", "%p", "%f", "%rs"};
    const std::string_view family = kFamilies[below(kFamilies.size())];
    const std::string other = "%other" + std::to_string(below(1000)) + "_";
    std::string text;
    std::size_t at = 0;
    for (std::size_t found = text_.find(family); found != std::string_view::npos; found = text_.find(family, found + 1)) {
      const std::size_t end = found + family.size();
      if (end >= text_.size() || !(is_decimal(text_[end]) || text_[end] == '<')) continue;
      text += text_.substr(at, found - at);
      text += other;
      at = end;
    }
    if (at == 0) return false;
    text += text_.substr(at);
    edits_.push_back({"rename", 1, std::move(text)});
    return true;
  }

  static bool arithmetic(const PtxStatement& statement) {
    static constexpr std::array<std::string_view, 11> kOpcodes = {"add.s32", "add.u32", "sub.s32", "shl.b32", "shr.u32", "and.b32",
                                                                  "or.b32",  "xor.b32", "mul.lo.", "add.s64", "mov.u32"};
    if (!statement.guard.empty() || statement.operands.size() < 2 || statement.mnemonic.find(".cc") != std::string_view::npos) return false;
    return std::any_of(kOpcodes.begin(), kOpcodes.end(), [&](std::string_view opcode) { return statement.is(opcode); });
  }

  bool swap() {
    const std::size_t at = below(statements_.size());
    if (at + 1 >= statements_.size()) return false;
    const PtxStatement &first = statements_[at], &second = statements_[at + 1];
    if (!second.follows || !arithmetic(first) || !arithmetic(second)) return false;
    const auto touches = [](const PtxStatement& statement, std::string_view word) {
      return std::any_of(statement.operands.begin(), statement.operands.end(), [&](std::string_view operand) { return operand == word; });
    };
    if (touches(second, first.operands[0]) || touches(first, second.operands[0])) return false;
    return put("swap", first.line, first.begin, second.end,
               words(second) + std::string(text_.substr(first.end, second.begin - first.end)) + words(first));
  }

  bool move_to_itself() {
    const PtxStatement& statement = any();
    if (!arithmetic(statement) || statement.mnemonic.find("32") == std::string_view::npos) return false;
    const std::string reg(statement.operands[0]);
    return put("move_to_itself", statement.line, statement.end, statement.end, " mov.b32 " + reg + ", " + reg + ";");
  }

  std::size_t line_begin(const PtxStatement& statement) const {
    const std::size_t before = text_.rfind('\n', statement.begin);
    return before == std::string_view::npos ? 0 : before + 1;
  }
  bool comment() {
    const PtxStatement& statement = any();
    const std::size_t at = line_begin(statement);
    return below(2) ? put("comment", statement.line, at, at, "\t// not; { code\n")
                    : put("comment", statement.line, at, at, "/* } two\n lines */ ");
  }
  bool blank_line() {
    const PtxStatement& statement = any();
    const std::size_t at = line_begin(statement);
    return put("blank_line", statement.line, at, at, "\n \t\n");
  }

  bool wait_twice() {
    const PtxStatement& statement = any();
    const bool waits = statement.is("mbarrier.try_wait") || statement.is("wgmma.wait_group") || statement.is("cp.async.bulk.wait_group") ||
                       statement.is("cp.async.wait_group") || statement.is("tcgen05.wait") || statement.is("bar.warp.sync");
    return waits && put("wait_twice", statement.line, statement.end, statement.end, " " + words(statement));
  }

  bool more_fence() {
    const PtxStatement& statement = any();
    if (statement.is("wgmma.fence")) return put("more_fence", statement.line, statement.end, statement.end, " " + words(statement));
    static constexpr std::array<const char*, 3> kFences = {"fence.proxy.async.shared::cta; ", "fence.acq_rel.cta; ", "membar.cta; "};
    return put("more_fence", statement.line, statement.begin, statement.begin, kFences[below(kFences.size())]);
  }

  bool more_label() {
    const PtxStatement& statement = any();
    const std::string label = "$L_other" + std::to_string(below(1000));
    return put("more_label", statement.line, statement.begin, statement.begin, "bra.uni " + label + "; " + label + ": ");
  }

  std::string_view text_;
  std::vector<PtxStatement> statements_;
  std::mt19937_64 random_;
  std::vector<PtxMutant> edits_;
};

}  // namespace

std::vector<PtxMutant> harmless_ptx_edits(std::string_view text, int count, std::uint64_t seed) {
  return HarmlessEdits(text, seed).make(count);
}

}  // namespace heddle::test
