#include "tests/support/ptx_mutants.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "tests/support/ptx_statements.h"

namespace heddle::test {

namespace {

bool is_number(std::string_view word, long long& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

/// "[%r1+8]" and 128: "[%r1+136]".
std::string moved(std::string_view address, long long bytes) {
  std::string_view inside = address.substr(1, address.size() - 2);
  const std::size_t plus = inside.find('+');
  long long offset = 0;
  if (plus != std::string_view::npos && is_number(inside.substr(plus + 1), offset)) inside = inside.substr(0, plus);
  return "[" + std::string(inside) + "+" + std::to_string(offset + bytes) + "]";
}

class PlantedMistakes {
 public:
  PlantedMistakes(std::string_view text, const std::set<int>& executed)
      : text_(text), executed_(executed), statements_(ptx_statements(text)) {}

  std::vector<PtxMutant> plant() {
    for (at_ = 0; at_ < statements_.size(); ++at_) {
      const PtxStatement& statement = statements_[at_];
      if (!executed_.contains(statement.line)) continue;
      drops(statement);
      mbarriers(statement);
      copies(statement);
      counts(statement);
      ring(statement);
    }
    return std::move(mutants_);
  }

 private:
  /// `words` in place of the statement; the lines behind it stay where they are.
  void put(const char* kind, const PtxStatement& statement, const std::string& words) {
    const std::string_view old = text_.substr(statement.begin, statement.end - statement.begin);
    const auto lines = [](std::string_view piece) { return std::count(piece.begin(), piece.end(), '\n'); };
    std::string text(text_.substr(0, statement.begin));
    text += words;
    text.append(static_cast<std::size_t>(std::max<std::ptrdiff_t>(lines(old) - lines(words), 0)), '\n');
    text += text_.substr(statement.end);
    mutants_.push_back({kind, statement.line, std::move(text)});
  }

  static std::string written(const PtxStatement& statement, std::size_t operand, std::string_view instead) {
    std::string words = std::string(statement.guard) + std::string(statement.mnemonic) + " ";
    for (std::size_t i = 0; i < statement.operands.size(); ++i) {
      words += i ? ", " : "";
      words += i == operand ? instead : statement.operands[i];
    }
    return words + ";";
  }
  void put_operand(const char* kind, const PtxStatement& statement, std::size_t operand, std::string_view instead) {
    put(kind, statement, written(statement, operand, instead));
  }
  /// The operand's value changed by an instruction: "add.s32 _, _, 16".
  void put_value(const char* kind, const PtxStatement& statement, std::size_t operand, const std::string& opcode, int by) {
    const std::string old(statement.operands[operand]);
    put(kind, statement,
        "{ .reg .b32 %planted; mov.b32 %planted, " + old + "; " + opcode + " %planted, %planted, " + std::to_string(by) + "; " +
            written(statement, operand, "%planted") + " }");
  }

  void drops(const PtxStatement& statement) {
    struct Row {
      const char *beginning, *kind;
    };
    static constexpr std::array kRows = {
        Row{"mbarrier.arrive", "drop_arrive"},
        Row{"cp.async.mbarrier.arrive", "drop_arrive"},
        Row{"fence.proxy.async", "drop_proxy_fence"},
        Row{"fence.mbarrier_init", "drop_init_fence"},
        Row{"wgmma.fence", "drop_product_fence"},
        Row{"wgmma.commit_group", "drop_product_commit"},
        Row{"wgmma.wait_group", "drop_product_wait"},
        Row{"cp.async.bulk.commit_group", "drop_store_commit"},
        Row{"cp.async.bulk.wait_group", "drop_store_wait"},
        Row{"cp.async.commit_group", "drop_copy_commit"},
        Row{"cp.async.wait_group", "drop_copy_wait"},
        Row{"cp.async.wait_all", "drop_copy_wait"},
        Row{"bar.arrive", "drop_named_arrive"},
        Row{"barrier.arrive", "drop_named_arrive"},
        Row{"barrier.cta.arrive", "drop_named_arrive"},
        Row{"bar.sync", "drop_named_sync"},
        Row{"barrier.sync", "drop_named_sync"},
        Row{"barrier.cta.sync", "drop_named_sync"},
        Row{"barrier.cluster.arrive", "drop_cluster_arrive"},
        Row{"barrier.cluster.wait", "drop_cluster_wait"},
        Row{"tcgen05.fence", "drop_tensor_fence"},
        Row{"tcgen05.commit", "drop_tensor_commit"},
        Row{"tcgen05.wait::ld", "drop_tensor_wait_load"},
        Row{"tcgen05.wait::st", "drop_tensor_wait_store"},
        Row{"tcgen05.dealloc", "drop_tensor_free"},
    };
    for (const Row& row : kRows) {
      if (statement.is(row.beginning)) put(row.kind, statement, "");
    }
  }

  void mbarriers(const PtxStatement& statement) {
    const std::size_t operands = statement.operands.size();
    if ((statement.is("mbarrier.arrive.expect_tx") && operands == 3) || (statement.is("mbarrier.expect_tx") && operands == 2)) {
      put_value("expect_more", statement, operands - 1, "add.s32", 16);
      put_value("expect_half", statement, operands - 1, "shr.u32", 1);
    }
    const bool waits = statement.is("mbarrier.try_wait.parity") || statement.is("mbarrier.test_wait.parity");
    if (waits && operands >= 3) {
      put_value("flip_parity", statement, 2, "xor.b32", 1);
      put("drop_wait", statement, "setp.eq.u32 " + std::string(statement.operands[0]) + ", 0, 0;");
    }
    if (statement.is("mbarrier.init") && operands == 2) {
      put_value("init_more", statement, 1, "add.s32", 1);
      put_value("init_less", statement, 1, "sub.s32", 1);
    }
    if (statement.is("tcgen05.commit") && operands >= 1) {
      put_operand("commit_other_barrier", statement, 0, moved(statement.operands[0], 8));
    }
  }

  void copies(const PtxStatement& statement) {
    if (!statement.is("cp.async.bulk") || statement.mnemonic.find("mbarrier::complete_tx") == std::string_view::npos) return;
    const std::size_t barrier = statement.is("cp.async.bulk.tensor") ? 2 : 3;
    if (statement.operands.size() <= barrier || statement.operands[barrier][0] != '[') return;
    put_operand("copy_elsewhere", statement, 0, moved(statement.operands[0], 128));
    put_operand("copy_other_barrier", statement, barrier, moved(statement.operands[barrier], 8));
    put("drop_copy", statement, "");
  }

  void counts(const PtxStatement& statement) {
    long long number = 0;
    const auto& operands = statement.operands;
    const bool one_number = operands.size() == 1 && is_number(operands[0], number);
    const std::string more = std::to_string(number + 1);
    if (statement.is("wgmma.wait_group") && one_number) put_operand("product_wait_more", statement, 0, more);
    if (statement.is("cp.async.bulk.wait_group") && one_number) put_operand("store_wait_more", statement, 0, more);
    if (statement.is("cp.async.wait_group") && one_number) put_operand("copy_wait_more", statement, 0, more);
    if (statement.is("setmaxnreg.inc") && one_number && number < 250) put_operand("registers_more", statement, 0, "256");
    const bool named = statement.is("bar.sync") || statement.is("bar.arrive") || statement.is("barrier.sync") ||
                       statement.is("barrier.arrive") || statement.is("barrier.cta.");
    if (named && operands.size() == 2) put_value("named_count", statement, 1, "add.s32", 32);
  }

  /// A slot's number that goes on to one slot more: "add s, s, 1; setp p, s, SLOTS; selp s, 0, s, p" in some order.
  void ring(const PtxStatement& statement) {
    long long slots = 0;
    if (!statement.is("setp.") || statement.operands.size() != 3 || !is_number(statement.operands[2], slots) || slots < 1 || slots > 16)
      return;
    const std::string_view predicate = statement.operands[0], slot = statement.operands[1];
    constexpr std::size_t kNear = 16;
    bool counts_up = false, goes_round = false;
    for (std::size_t i = at_ - std::min(at_, kNear); i < std::min(at_ + kNear, statements_.size()); ++i) {
      const PtxStatement& near = statements_[i];
      if (near.is("add.") && near.operands.size() == 3) counts_up = counts_up || (near.operands[0] == slot && near.operands[2] == "1");
      if (!near.is("selp.") || near.operands.size() != 4 || near.operands[3] != predicate) continue;
      goes_round =
          goes_round || (near.operands[1] == "0" && near.operands[2] == slot) || (near.operands[1] == slot && near.operands[2] == "0");
    }
    if (counts_up && goes_round) put_operand("ring_deeper", statement, 2, std::to_string(slots + 1));
  }

  std::string_view text_;
  const std::set<int>& executed_;
  std::vector<PtxStatement> statements_;
  std::size_t at_ = 0;
  std::vector<PtxMutant> mutants_;
};

}  // namespace

std::vector<PtxMutant> ptx_mutants(std::string_view text, const std::set<int>& executed) { return PlantedMistakes(text, executed).plant(); }

}  // namespace heddle::test
