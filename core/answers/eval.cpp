// Errors that are not finite become null; so does "pass" where there was nothing to pass.
#include "core/answers/eval.h"

#include "core/base/json.h"

namespace heddle {

namespace {

Json pass_json(bool compared, bool pass) { return compared || !pass ? Json(pass) : Json(); }

}  // namespace

std::string eval_text(const EvalReport& report) {
  Json params = Json::object();
  for (const auto& [name, value] : report.params) params.set(name, value);
  Json tensors = Json::array();
  for (const TensorComparison& t : report.tensors) {
    Json shape = Json::array();
    for (std::int64_t extent : t.shape) shape.push(extent);
    tensors.push(Json::Object{{"tensor", t.tensor},
                              {"dtype", to_string(t.dtype)},
                              {"shape", std::move(shape)},
                              {"compared", t.compared},
                              {"pass", pass_json(t.compared, t.pass)},
                              {"verdict", eval_verdict(t.compared, t.pass)},
                              {"max_abs_error", t.max_abs_error},
                              {"max_rel_error", t.max_rel_error},
                              {"rms_error", t.rms_error},
                              {"rms_value", t.rms_value},
                              {"not_finite", t.not_finite},
                              {"beyond_tolerance", t.beyond},
                              {"worst", t.worst},
                              {"tolerance", t.compared ? Json(Json::Object{{"absolute", t.tolerance.absolute},
                                                                           {"relative", t.tolerance.relative},
                                                                           {"rms", t.tolerance.rms},
                                                                           {"reason", t.tolerance.reason}})
                                                       : Json()}});
  }
  return Json(Json::Object{
                  {"kernel", report.kernel},
                  {"params", std::move(params)},
                  {"reference", report.reference},
                  {"formula", report.formula},
                  {"seed", report.seed},
                  {"pass", report.cancelled ? Json() : pass_json(!report.reference.empty(), report.pass)},
                  {"verdict", report.cancelled ? "stopped, nothing was compared" : eval_verdict(!report.reference.empty(), report.pass)},
                  {"tensors", std::move(tensors)},
                  {"blocks", report.count.blocks},
                  {"trips", report.count.trips},
                  {"tile_instructions", report.count.ops},
                  {"multiply_adds", report.count.work},
                  {"seconds", report.seconds}})
      .pretty();
}

}  // namespace heddle
