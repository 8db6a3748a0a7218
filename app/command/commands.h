// The commands' entry points, one per row of the command table. Each returns an exit code.
#pragma once

namespace heddle::app {

class Arguments;
struct Terminal;

int run_solve(const Arguments& arguments, const Terminal& terminal);
int run_diff(const Arguments& arguments, const Terminal& terminal);
int run_check(const Arguments& arguments, const Terminal& terminal);
int run_ptx_check(const Arguments& arguments, const Terminal& terminal);
int run_ptx_show(const Arguments& arguments, const Terminal& terminal);
int run_audit(const Arguments& arguments, const Terminal& terminal);
int run_analyze(const Arguments& arguments, const Terminal& terminal);
int run_show(const Arguments& arguments, const Terminal& terminal);
int run_simulate(const Arguments& arguments, const Terminal& terminal);
int run_traffic(const Arguments& arguments, const Terminal& terminal);
int run_validate(const Arguments& arguments, const Terminal& terminal);
int run_fit(const Arguments& arguments, const Terminal& terminal);
int run_export(const Arguments& arguments, const Terminal& terminal);
int run_emit(const Arguments& arguments, const Terminal& terminal);
int run_compile(const Arguments& arguments, const Terminal& terminal);
int run_interpret(const Arguments& arguments, const Terminal& terminal);
int run_run(const Arguments& arguments, const Terminal& terminal);
int run_profile(const Arguments& arguments, const Terminal& terminal);
int run_bench_command(const Arguments& arguments, const Terminal& terminal);
int run_capture(const Arguments& arguments, const Terminal& terminal);
int run_calibrate(const Arguments& arguments, const Terminal& terminal);
int run_race(const Arguments& arguments, const Terminal& terminal);
int run_overlay(const Arguments& arguments, const Terminal& terminal);
int run_adopt(const Arguments& arguments, const Terminal& terminal);
int run_eval(const Arguments& arguments, const Terminal& terminal);
int run_batch(const Arguments& arguments, const Terminal& terminal);
int run_serve(const Arguments& arguments, const Terminal& terminal);
int run_merge(const Arguments& arguments, const Terminal& terminal);
int run_store(const Arguments& arguments, const Terminal& terminal);
int run_layout(const Arguments& arguments, const Terminal& terminal);
int run_new(const Arguments& arguments, const Terminal& terminal);
int run_list(const Arguments& arguments, const Terminal& terminal);
int run_schema(const Arguments& arguments, const Terminal& terminal);
int run_completion(const Arguments& arguments, const Terminal& terminal);
int run_version(const Arguments& arguments, const Terminal& terminal);
int run_help(const Arguments& arguments, const Terminal& terminal);
int run_gui(const Arguments& arguments, const Terminal& terminal);

// Questions to the solver (app/cli/questions); null in a build without one.
#ifdef HEDDLE_HAS_SOLVER
int run_explain(const Arguments& arguments, const Terminal& terminal);
int run_slack(const Arguments& arguments, const Terminal& terminal);
int run_price(const Arguments& arguments, const Terminal& terminal);
int run_latency(const Arguments& arguments, const Terminal& terminal);
int run_sensitivity(const Arguments& arguments, const Terminal& terminal);
int run_alternatives(const Arguments& arguments, const Terminal& terminal);
int run_compare(const Arguments& arguments, const Terminal& terminal);
int run_pareto(const Arguments& arguments, const Terminal& terminal);
int run_family(const Arguments& arguments, const Terminal& terminal);
int run_paper(const Arguments& arguments, const Terminal& terminal);
int run_period(const Arguments& arguments, const Terminal& terminal);
int run_tune(const Arguments& arguments, const Terminal& terminal);
#else
using Absent = int (*)(const Arguments&, const Terminal&);
inline constexpr Absent run_explain = nullptr, run_slack = nullptr, run_price = nullptr, run_latency = nullptr, run_sensitivity = nullptr,
                        run_alternatives = nullptr, run_compare = nullptr, run_pareto = nullptr, run_family = nullptr, run_paper = nullptr,
                        run_period = nullptr, run_tune = nullptr;
#endif

}  // namespace heddle::app
