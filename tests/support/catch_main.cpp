// The main function of every test program.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CATCH_CONFIG_NO_POSIX_SIGNALS  // Catch2's handlers would hide where it happened from the sanitizer's
#endif
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/support/last_inputs.h"

int main(int argc, char** argv) {
  // No test may find answers that an earlier run, or a user, left on the machine; tests of the store name a folder of their own.
  setenv("HEDDLE_STORE", "off", 1);
  setenv("HEDDLE_JUDGE", "0", 1);  // as many kernels are compiled as a test asks for, and no others
  heddle::test::print_inputs_when_dying();
  return Catch::Session().run(argc, argv);
}
