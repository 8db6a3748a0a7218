#!/bin/sh
# The shipped kernels on a real GPU, small enough for a test: verified, repeated, profiled. Exit code 77, with the reason, where there
# is none.
#
#   device.sh HEDDLE ROOT
heddle=$1 schedules=$2/tests/schedules
failed=0
run() {
  said=$("$heddle" "$@" --blocks 1 --launches 5 --pause 0.05 --no-color 2>&1)
  code=$?
  if [ $code -eq 6 ]; then
    echo "$said" | tail -1
    exit 77
  fi
  echo "$said"
  [ $code -eq 0 ] || failed=1
}
run run gemm_hopper h200 "$schedules/gemm_hopper_h100.json" -p M=1024 -p N=1024 -p K=1024
for k in 64 128 192 256 320; do run run gemm_hopper h200 "$schedules/gemm_hopper_h100.json" -p M=392 -p N=520 -p K=$k --no-time; done
run run attention_forward_hopper h200 "$schedules/attention_forward_hopper_h100.json" -p HEADS=4 -p Q_LEN=512 -p KV_LEN=1024
run run swiglu_dual_gemm_hopper h200 "$schedules/swiglu_dual_gemm_hopper_h100.json" -p M=512 -p N=512 -p K=512
run run gemm_fp8_hopper h200 "$schedules/gemm_fp8_hopper_h100.json" -p M=392 -p N=512 -p K=1024
run run gemm_w4a16_hopper h200 "$schedules/gemm_w4a16_hopper_h100.json" -p N_OUT=392 -p TOKENS=40 -p K=1536
run run layernorm h200 "$schedules/layernorm_h100.json" -p ROWS=4099
run profile gemm_hopper h200 "$schedules/gemm_hopper_h100.json" -p M=2048 -p N=2048 -p K=2048
exit $failed
