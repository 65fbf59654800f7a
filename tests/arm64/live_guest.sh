# What is tried in the emulated machine, with busybox's sh: one TREE HOME NAME for each JDK. Everything runs in the JVM's own
# tree. What a command printed is in /x/NAME/WHAT, WHAT.err and WHAT.status; live_test.py compares it.
set -u

begin() {
  tree=$1 home=$2 out=/x/$3 work=$1/tmp/j
  echo "== $3"
  mkdir -p $out $work
  cp /x/jtrace /x/hsperf /x/*.class $work/
}

try() {
  what=$1; shift
  started=$(cut -d. -f1 /proc/uptime)
  chroot $tree "$@" > $out/$what 2> $out/$what.err
  echo $? > $out/$what.status
  echo "$what: status $(cat $out/$what.status), $(($(cut -d. -f1 /proc/uptime) - started)) s"
}

# until_said PATTERN COUNT: the program's output has so many lines with it.
until_said() {
  tries=0
  until [ $(grep -c "$1" $work/said) -ge $2 ]; do
    sleep 0.2; tries=$((tries + 1))
    if [ $tries -gt 900 ]; then echo "never said: $1"; cat $work/said; return 1; fi
  done
}

start() {
  rm -f $work/in; mkfifo $work/in; exec 3<>$work/in
  : > $work/said
  chroot $tree $home/bin/java -Xmx96m -Xss512k -Xshare:auto -cp /tmp/j "$@" < $work/in > $work/said 2>&1 3>&- &
  until_said READY 1 || return 1
  pid=$(pidof java)
  asked=0
}

ask() { for line in "$@"; do asked=$((asked + 1)); echo "$line" >&3; until_said '^\(OK\|ERR\)' $asked; done; }

finish() { kill -9 $pid; exec 3>&-; while [ -d /proc/$pid ]; do sleep 0.2; done; cp $work/said $out/said.$1; }

# trace WHAT OPTIONS... -- COMMANDS...: attaches, has the program do that, ends the trace.
trace() {
  document=$1 options=""; shift
  while [ "$1" != -- ]; do options="$options $1"; shift; done
  shift
  rm -f $work/$document.xml
  chroot $tree /tmp/j/jtrace attach $pid --timeout 60s -o /tmp/j/$document.xml $options > $out/$document.said 2>&1 &
  tracer=$!
  tries=0
  until grep -q '<traceStart' $work/$document.xml 2>/dev/null || [ $tries -gt 300 ] || [ ! -d /proc/$tracer ]; do sleep 0.2; tries=$((tries + 1)); done
  sleep 4  # probes are inserted, and some events enabled, when the document has begun
  ask "$@"
  kill -TERM $tracer; wait $tracer; echo $? > $out/$document.said.status
  try $document.validate /tmp/j/jtrace validate /tmp/j/$document.xml
  cp $work/$document.xml $out/ 2>/dev/null
}

look_inside() {
  start Exhibits || return 1
  try list /tmp/j/jtrace list
  try cmd /tmp/j/jtrace cmd $pid jcmd VM.version
  try cmd.peer /usr/bin/jattach $pid jcmd VM.version
  try threads.peer /usr/bin/jattach $pid jcmd "Thread.print -l"
  try histogram.peer /usr/bin/jattach $pid jcmd GC.class_histogram
  try stack /tmp/j/jtrace stack $pid
  try threads /tmp/j/jtrace inspect $pid threads
  try info /tmp/j/jtrace inspect $pid info
  try histogram /tmp/j/jtrace inspect $pid histogram
  try heapdump /tmp/j/jtrace inspect $pid heapdump -o /tmp/j/live.hprof
  try heapdump.histogram /tmp/j/jtrace inspect /tmp/j/live.hprof histogram
  try core /tmp/j/jtrace core $pid -o /tmp/j/live.core
  try core.stack /tmp/j/jtrace stack /tmp/j/live.core
  try profile /tmp/j/jtrace profile $pid --duration 2s --hz 20 -o -
  rm -f $work/live.*
  finish exhibits
}

look_on() {
  start Workload || return 1
  trace plain --events threads,classes,gc,monitors,runtime --min-contention 0 -- "threads 20" "contend 3" "wait 3" "load 5" "gc 2" "garbage 20"
  trace rewritten --events methods,calls,exceptions,allocations,parks,sleeps --filter Workload* -- "exceptions 10" "alloc 50" "park 3"
  try hsperf /tmp/j/hsperf stat -gc $pid 100ms 1
  try hsperf.peer /usr/bin/jattach $pid jcmd GC.heap_info
  try probes /tmp/j/jtrace probes $pid
  for end in uprobe_multi perf_bpf perf; do
    chroot $tree /tmp/j/jtrace probe $pid 'gc__*' 'thread__*' --backend $end -o /tmp/j/probe.xml > $out/probe.$end 2>&1 &
    tracer=$!
    sleep 4
    ask "gc 2" "threads 3"
    kill -TERM $tracer; wait $tracer; echo $? > $out/probe.$end.status
    cp $work/probe.xml $out/probe.$end.xml 2>/dev/null; rm -f $work/probe.xml
  done
  ask "counts"
  finish workload
}

one() { begin "$@"; look_inside; look_on; rm -rf $work; }

