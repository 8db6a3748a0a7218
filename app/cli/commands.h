// The commands' entry points, one per row of the command table. Each returns an exit code.
#pragma once

namespace heddle::app {

class Arguments;
struct Terminal;

int run_solve(const Arguments& arguments, const Terminal& terminal);
int run_check(const Arguments& arguments, const Terminal& terminal);
int run_analyze(const Arguments& arguments, const Terminal& terminal);
int run_show(const Arguments& arguments, const Terminal& terminal);
int run_export(const Arguments& arguments, const Terminal& terminal);
int run_eval(const Arguments& arguments, const Terminal& terminal);
int run_list(const Arguments& arguments, const Terminal& terminal);
int run_schema(const Arguments& arguments, const Terminal& terminal);
int run_completion(const Arguments& arguments, const Terminal& terminal);
int run_version(const Arguments& arguments, const Terminal& terminal);
int run_help(const Arguments& arguments, const Terminal& terminal);
int run_gui(const Arguments& arguments, const Terminal& terminal);

}  // namespace heddle::app
