// The main function of every test program.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdlib>

int main(int argc, char** argv) {
  // No test may find answers that an earlier run, or a user, left on the machine; tests of the store name a folder of their own.
  setenv("HEDDLE_STORE", "off", 1);
  return Catch::Session().run(argc, argv);
}
