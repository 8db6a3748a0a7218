#include "app/cli/schemas.h"

#include "app/batch/job_file.h"
#include "app/batch/job_result.h"
#include "app/batch/serve.h"
#include "app/bench/record.h"
#include "core/answers/alternatives.h"
#include "core/answers/difference.h"
#include "core/answers/eval.h"
#include "core/answers/explanation.h"
#include "core/answers/fit.h"
#include "core/answers/kernel_set.h"
#include "core/answers/latency.h"
#include "core/answers/layout_view.h"
#include "core/answers/least_period.h"
#include "core/answers/paper.h"
#include "core/answers/pareto.h"
#include "core/answers/price.h"
#include "core/answers/scoreboard.h"
#include "core/answers/sensitivity.h"
#include "core/answers/simulation.h"
#include "core/answers/slack.h"
#include "core/answers/summary.h"
#include "core/answers/traffic.h"
#include "core/answers/validation.h"
#include "core/formats/constraints_json.h"
#include "core/formats/contention_readings_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/measurement_json.h"
#include "core/formats/published_json.h"
#include "core/formats/race_json.h"
#include "core/formats/schedule_json.h"
#include "core/formats/space_json.h"
#include "core/library/project_json.h"
#include "ptx/launch/launch_json.h"
#include "ptx/report/check_words.h"

namespace heddle::app {

std::span<const SchemaKind> schema_kinds() {
  static constexpr SchemaKind kKinds[] = {{"kernel", kernel_schema},
                                          {"machine", machine_schema},
                                          {"schedule", schedule_schema},
                                          {"constraints", constraints_schema},
                                          {"project", project_schema},
                                          {"pareto", pareto_schema},
                                          {"simulation", simulation_schema},
                                          {"traffic", traffic_schema},
                                          {"measurement", measurement_schema},
                                          {"job", job_schema},
                                          {"result", result_schema},
                                          {"request", request_schema},
                                          {"reply", reply_schema},
                                          {"space", space_schema},
                                          {"published", published_schema},
                                          {"validation", validation_schema},
                                          {"bench", bench_schema},
                                          {"race", race_schema},
                                          {"contention", contention_schema},
                                          {"launch", ptx::launch_schema},
                                          // What commands answer with --json, by their names.
                                          {"solve", outcome_schema},
                                          {"alternatives", alternatives_schema},
                                          {"analyze", bounds_schema},
                                          {"check", verdict_schema},
                                          {"compare", scoreboard_schema},
                                          {"compile", compile_schema},
                                          {"diff", difference_schema},
                                          {"eval", eval_schema},
                                          {"explain", explanation_schema},
                                          {"family", kernel_set_schema},
                                          {"fit", fit_schema},
                                          {"latency", latency_schema},
                                          {"layout", layout_schema},
                                          {"paper", paper_schema},
                                          {"period", least_period_schema},
                                          {"price", price_schema},
                                          {"sensitivity", sensitivity_schema},
                                          {"slack", slack_schema},
                                          {"validate", validated_schema},
                                          {"ptx_check", ptx::ptx_check_schema},
                                          {"ptx_show", ptx::ptx_show_schema}};
  return kKinds;
}

}  // namespace heddle::app
