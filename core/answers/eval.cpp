// Errors that are not finite become null; so does "pass" where there was nothing to pass.
#include "core/answers/eval.h"

#include "core/answers/answer_members.h"

namespace heddle {
namespace {

std::optional<bool> passed(bool compared, bool pass) { return only_if(compared || !pass, pass); }

}  // namespace

template <class Io>
void visit(Io& io, const Tolerance& tolerance) {
  io.written("absolute", tolerance.absolute), io.written("relative", tolerance.relative), io.written("rms", tolerance.rms);
  io.written("reason", tolerance.reason);
}

template <class Io>
void visit(Io& io, const TensorComparison& t) {
  io.written("tensor", t.tensor), io.written("dtype", to_string(t.dtype)), io.written("shape", t.shape);
  io.written("compared", t.compared, "false: the kernel names no formula");
  io.written("pass", passed(t.compared, t.pass)), io.written("verdict", eval_verdict(t.compared, t.pass));
  io.written("max_abs_error", t.max_abs_error), io.written("max_rel_error", t.max_rel_error), io.written("rms_error", t.rms_error);
  io.written("rms_value", t.rms_value), io.written("not_finite", t.not_finite), io.written("beyond_tolerance", t.beyond);
  io.written("worst", t.worst), io.written("tolerance", only_if(t.compared, t.tolerance));
}

template <class Io>
void visit(Io& io, const EvalReport& report) {
  const bool compared = !report.reference.empty();
  io.written("kernel", report.kernel), io.written("params", report.params), io.written("reference", report.reference);
  io.written("formula", report.formula), io.written("seed", report.seed, as::seed);
  io.written("pass", report.cancelled ? std::nullopt : passed(compared, report.pass));
  io.written("verdict", report.cancelled ? "stopped, nothing was compared" : eval_verdict(compared, report.pass));
  io.written("tensors", report.tensors), io.written("blocks", report.count.blocks), io.written("trips", report.count.trips);
  io.written("tile_instructions", report.count.ops), io.written("multiply_adds", report.count.work), io.written("seconds", report.seconds);
}

std::string eval_text(const EvalReport& report) { return as::part.write(report).pretty(); }

Json eval_schema() { return nameless_schema<EvalReport>("heddle.eval/1", "What heddle eval answers"); }

}  // namespace heddle
