#include "codegen/package/torch_formula.h"

#include <algorithm>
#include <sstream>

#include "core/kernel/reference.h"

namespace heddle::codegen {
namespace {

constexpr double kRounded = 1e-2;      ///< results, and factors of a second product, are rounded to bf16: about 3e-3
constexpr double kRoundedByte = 5e-2;  ///< probabilities are rounded to e4m3, which has three bits behind the leading one

// Heads of K and V may be fewer: neighbouring heads of Q share one.
constexpr const char* kAttention = R"(heads = Q.shape[0] // K.shape[0]
scale = Q.shape[-1] ** -0.5 if scale is None else scale
scores = Q.float() @ K.float().repeat_interleave(heads, 0).transpose(1, 2) * scale
)";
// The last query sees every key, the one before it all but the last.
constexpr const char* kCausal = R"(seen = torch.ones(scores.shape[1:], dtype=torch.bool, device=Q.device).tril(K.shape[1] - Q.shape[1])
scores = scores.masked_fill(~seen, float("-inf"))
)";
constexpr const char* kForward =
    R"(attended = F.scaled_dot_product_attention(Q.float(), K.float().repeat_interleave(heads, 0), V.float().repeat_interleave(heads, 0),
                                          attn_mask=seen, scale=scale)
wanted = {"O": attended, "LSE": torch.logsumexp(scores, -1) * 1.4426950408889634}  # to base 2
)";
constexpr const char* kBackward = R"(weights = F.softmax(scores, -1)
slopes = dO.float() @ V.float().repeat_interleave(heads, 0).transpose(1, 2)
slopes = weights * (slopes - (slopes * weights).sum(-1, keepdim=True)) * scale
dK, dV = slopes.transpose(1, 2) @ Q.float(), weights.transpose(1, 2) @ dO.float()
wanted = {"dQ": slopes @ K.float().repeat_interleave(heads, 0), "dK": dK.unflatten(0, (-1, heads)).sum(1), "dV": dV.unflatten(0, (-1, heads)).sum(1)}
)";
constexpr const char* kStatistics = R"(attended = F.softmax(scores, -1) @ V.float().repeat_interleave(heads, 0)
LSE.copy_(torch.logsumexp(scores, -1) * 1.4426950408889634)  # to base 2
Delta.copy_((dO.float() * attended).sum(-1) * scale)
)";
constexpr const char* kOwnScale = "scale = None\n";
constexpr const char* kAllSeen = "seen = None\n";

constexpr const char* kGemm = R"(wanted = {"C": A.float() @ B.float()}
)";
constexpr const char* kBlockScaled = R"(a = A.float() * SA.t().repeat_interleave(128, 1)[:, :A.shape[1]]
b = B.float() * SB.repeat_interleave(128, 0)[:B.shape[0]].repeat_interleave(128, 1)[:, :B.shape[1]]
wanted = {"D": F.linear(a, b)}
)";
constexpr const char* kGroupScaled = R"(numbers = torch.stack((W & 15, W >> 4), -1).flatten(-2).float()
numbers = torch.where(numbers > 7, numbers - 16, numbers) * S.float().t().repeat_interleave(128, 1)[:, :X.shape[1]]
wanted = {"D": F.pad(F.linear(numbers, X.float()), (0, -X.shape[0] % 8))}
)";
constexpr const char* kSwiglu = R"(wanted = {"Out": F.silu(A.float() @ G.float()) * (A.float() @ U.float())}
)";
constexpr const char* kLayernorm = R"(wanted = {"Y": F.layer_norm(X.float(), X.shape[1:], Gamma, Beta, 1e-5)}
)";
constexpr const char* kScaled = R"(heads = Q.shape[0] // K.shape[0]
scores = Q.float() @ K.float().repeat_interleave(heads, 0).transpose(1, 2) * SQ.abs()[..., None] * Q.shape[-1] ** -0.5
wanted = {"O": F.softmax(scores, -1) @ (values * SV[:, None, :]).repeat_interleave(heads, 0)}
)";

std::optional<TorchFormula> formula_of(const std::string& name) {
  const std::string attention = kAttention;
  const bool causal = name.ends_with("_causal");
  const std::string scores = attention + (causal ? kCausal : kAllSeen);
  if (name == "gemm") return TorchFormula{kGemm, "", kRounded};
  if (name == "gemm_block_scaled") return TorchFormula{kBlockScaled, "", kRounded};
  if (name == "gemm_group_scaled") return TorchFormula{kGroupScaled, "", kRounded};
  if (name == "swiglu_dual_gemm") return TorchFormula{kSwiglu, "", kRounded};
  if (name == "layernorm") return TorchFormula{kLayernorm, "", kRounded};
  if (name == "attention_forward" || name == "attention_forward_causal") return TorchFormula{scores + kForward, "", kRounded};
  if (name == "attention_backward" || name == "attention_backward_causal")
    return TorchFormula{scores + kBackward, scores + kStatistics, kRounded};
  if (name == "attention_forward_scaled")
    return TorchFormula{std::string("values = VT.float().transpose(1, 2)\n") + kScaled, "", kRoundedByte};
  if (name == "attention_forward_scaled_rows") return TorchFormula{std::string("values = V.float()\n") + kScaled, "", kRoundedByte};
  return std::nullopt;
}

}  // namespace

std::optional<TorchFormula> torch_formula(const Kernel& kernel, bool scaled) {
  const Reference* reference = find_reference(kernel.reference);
  if (!reference) return std::nullopt;
  std::istringstream wanted(reference->tensors);
  for (std::string item; wanted >> item;)
    if (!kernel.find_tensor(item.substr(0, item.find(':')))) return std::nullopt;
  std::optional<TorchFormula> formula = formula_of(kernel.reference);
  if (formula && !scaled && kernel.reference.starts_with("attention") && !kernel.reference.starts_with("attention_forward_scaled")) {
    formula->body.insert(0, kOwnScale);
    if (!formula->prepared.empty()) formula->prepared.insert(0, kOwnScale);
  }
  return formula;
}

}  // namespace heddle::codegen
