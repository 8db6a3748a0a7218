#!/usr/bin/env bash
# Batches on a real Slurm of one machine: munged, slurmctld and slurmd with a configuration of their own in a scratch folder.
# A whole array; an array whose node dies in the middle of it; a batch submitted again. Every merged file must equal the file of a
# run without Slurm, byte for byte.
# Usage: slurm.sh HEDDLE. Exit 77: skipped, with the reason.
set -uo pipefail
heddle=$(realpath "${1:?usage: slurm.sh HEDDLE}")
skip() { echo "skipped: $*"; exit 77; }
for tool in munged slurmctld slurmd sbatch squeue scontrol sinfo; do
  command -v "$tool" >/dev/null || [[ -x /usr/sbin/$tool ]] || skip "$tool is not installed (Debian: slurm-wlm)"
done
[[ $(id -u) == 0 ]] || skip "slurmd runs jobs as their users, for which it must be root"
PATH=$PATH:/usr/sbin
unset "${!SLURM_@}"   # of a Slurm in which this script itself may run
work=$(mktemp -d /tmp/heddle_slurm.XXXXXX)
chmod 755 "$work"
munge='' controller='' node=''

# Ends what this script started, by number, and nothing else: slurmd first, as a node that is gone reports nothing, then its steps and what
# they run, told by an environment that names this configuration.
end_node() {
  if [[ -n $node ]]; then kill -KILL "$node" 2>/dev/null; wait "$node" 2>/dev/null; fi
  node=''
  local pid
  for pid in /proc/[0-9]*; do
    { grep -qz "^SLURM_CONF=$work/slurm.conf" "$pid/environ" && grep -qzE '^(slurmstepd:|.*slurmstepd)' "$pid/cmdline"; } 2>/dev/null && kill -KILL "${pid#/proc/}"
  done
  for pid in /proc/[0-9]*; do
    { grep -qz "^SLURM_CONF=$work/slurm.conf" "$pid/environ" && grep -qz '^SLURM_JOB_ID=' "$pid/environ"; } 2>/dev/null && kill -KILL "${pid#/proc/}"
  done
}
finish() {
  end_node
  for pid in $controller $munge; do kill "$pid" 2>/dev/null; done
  for _ in $(seq 50); do kill -0 $controller $munge 2>/dev/null || break; sleep 0.1; done
  for pid in $controller $munge; do kill -KILL "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
fail() {
  echo "FAILED: $*"
  tail -n 15 "$work"/*.log "$work"/jobs.results.jsonl.shards/*.log 2>/dev/null
  exit 1
}
await() {  # SECONDS COMMAND...: repeats the command until it succeeds
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.2
  done
}

# A munge of our own: nobody else's key is touched. Its socket must lie in a folder that others may enter.
mkdir "$work/munge" "$work/state" "$work/spool"
chmod 711 "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 2>/dev/null
chmod 400 "$work/munge/key"
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" --seed-file="$work/munge/seed" \
  --log-file="$work/munge.log" >"$work/munged.log" 2>&1 &
munge=$!
await 10 test -S "$work/munge/socket" || skip "munged does not start: $(tail -n 1 "$work/munged.log" "$work/munge.log" 2>/dev/null)"

host=$(hostname -s)
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
cat >"$work/slurm.conf" <<CONF
ClusterName=heddle
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
JobRequeue=1
SlurmdTimeout=5
KillWait=2
MinJobAge=30
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=500 State=UNKNOWN
PartitionName=cpu Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
export SLURM_CONF=$work/slurm.conf
start_node() {
  slurmd -D >"$work/slurmd.out.log" 2>&1 &
  node=$!
}
slurmctld -D -i >"$work/slurmctld.out.log" 2>&1 &
controller=$!
await 15 scontrol ping || skip "slurmctld does not start: $(grep -i error "$work/slurmctld.log" "$work/slurmctld.out.log" 2>/dev/null | tail -n 1)"
start_node
node_is_up() { [[ $(sinfo -h -o %T) == @(idle|mixed|allocated) ]]; }
await 20 node_is_up || skip "slurmd does not start: $(grep -i error "$work/slurmd.log" "$work/slurmd.out.log" 2>/dev/null | tail -n 1)"

cd "$work" || exit 1
export HEDDLE_STORE=off
# Long enough for a node to die in the middle: some tens of milliseconds each.
cat >jobs.jsonl <<'JOBS'
{"do": "solve", "kernel": "gemm_hopper", "machine": "h100", "each": {"params": {"TILE_N": [64, 128]}, "options": {"seed": {"from": 1, "to": 8}}}}
{"do": "solve", "kernel": "toy_fig1", "machine": "toy", "options": {"ii": 1}}
{"do": "no such thing"}
{"do": "explain", "kernel": "toy_fig1", "machine": "toy"}
JOBS
"$heddle" batch jobs.jsonl --quiet --out whole.jsonl 2>/dev/null
[[ -s whole.jsonl ]] || fail "the run without Slurm"

merged() { cmp -s jobs.results.jsonl whole.jsonl; }
submit() { "$heddle" batch jobs.jsonl --slurm --shards 4 --partition cpu --time 10 --mem 100 "$@"; }

submit || fail "submission"
await 90 merged || fail "the merged results of a whole array are not those of a run without Slurm"
echo "a whole array: the merged results are equal"
submit || fail "submitting a finished batch"
[[ -z $(squeue -h) ]] || await 10 test -z "$(squeue -h)"
echo "a finished batch submitted again: nothing to run"

# A node that dies: slurmd, its steps and all they run are killed with SIGKILL while shards have finished some jobs and not others.
rm -rf jobs.results.jsonl jobs.results.jsonl.shards
submit || fail "the second submission"
some_jobs_are_done() { (($(cat jobs.results.jsonl.shards/*.journal 2>/dev/null | wc -l) >= 3)); }
await 60 some_jobs_are_done || fail "no shard has begun"
end_node
finished=$(cat jobs.results.jsonl.shards/*.journal | wc -l)
((finished < 19)) || fail "the node outlived its work: $finished jobs were finished"
[[ ! -e jobs.results.jsonl ]] || fail "results before their time"
sleep 1
start_node
await 30 node_is_up || fail "the node does not come back"
# After a node was lost Slurm starts its jobs again by itself, after a while; nobody need wait for that here.
release() { scontrol -o show jobs | grep -o 'JobId=[0-9]*' | sort -u | while IFS='=' read -r _ id; do scontrol update JobId="$id" StartTime=now 2>/dev/null; done; }
for _ in $(seq 60); do
  merged && break
  release
  sleep 2
done
merged || fail "the merged results after the loss of a node are not those of a run without Slurm"
# Nothing that was finished before the node died was done again.
[[ $(cut -c18- jobs.results.jsonl.shards/*.journal | grep -o '"job": [0-9]*' | sort | uniq -d | wc -l) == 0 ]] || fail "a finished job was run again"
echo "a node killed after $finished of 18 jobs: the merged results are equal, and nothing was run twice"

# Shards that somebody cancels: the merging job names what is missing (jobs, or whole shards where none had ended), and submitting again does only that.
rm -rf jobs.results.jsonl jobs.results.jsonl.shards
submit || fail "the third submission"
await 60 some_jobs_are_done || fail "no shard has begun"
scancel --name=heddle-batch
await 60 grep -qsE 'in none of the files|4-of-4.jsonl: no such file' jobs.results.jsonl.shards/merge.log || fail "the merging job does not say what is missing"
nothing_is_queued() { [[ -z $(squeue -h) ]]; }
await 30 nothing_is_queued || fail "a cancelled batch stays in the queue"
[[ ! -e jobs.results.jsonl ]] || fail "results though shards were cancelled"
submit || fail "submitting a cancelled batch again"
await 90 merged || fail "the merged results after a cancelled array are not those of a run without Slurm"
[[ $(cut -c18- jobs.results.jsonl.shards/*.journal | grep -o '"job": [0-9]*' | sort | uniq -d | wc -l) == 0 ]] || fail "a finished job was run again"
echo "an array cancelled and submitted again: the merged results are equal, and nothing was run twice"
