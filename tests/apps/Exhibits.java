import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A program whose state is known, for cores: threads in every kind of frame, locks held and waited for, a known number
 * of objects. It says "READY" when all of that stands, and then reads from its standard input.
 */
public class Exhibits {
  static final class Marker {
    final Marker next;
    final int number;

    Marker(Marker next, int number) {
      this.next = next;
      this.number = number;
    }
  }

  static Marker chain;
  static Marker[] all = new Marker[1000];
  static final Object held = new Object();
  static final Object waited = new Object();
  static final ReentrantLock lock = new ReentrantLock();
  static volatile long spun;
  static volatile boolean sleeps;

  static void interpreted(int depth) {
    if (depth == 0) sleepForever();
    else interpreted(depth - 1);
  }

  static int compiled(int depth, int value) {
    if (depth == 0) {
      if (sleeps) sleepForever();
      return value;
    }
    return compiled(depth - 1, value * 31 + depth) + 1;
  }

  static void sleepForever() {
    try {
      Thread.sleep(1000000000L);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void runCompiled() {
    long sum = 0;
    for (int i = 0; i < 30000; i++) sum += compiled(12, i);
    spun += sum;
    try {
      Thread.sleep(2000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    for (int i = 0; i < 3000; i++) sum += compiled(12, i);
    sleeps = true;
    compiled(12, (int) sum);
  }

  static void spin() {
    long value = 1;
    for (;;) {
      for (int i = 1; i < 1000; i++) value = value * 6364136223846793005L + i;
      spun = value;
    }
  }

  static void hold() {
    synchronized (held) {
      lock.lock();
      sleepForever();
    }
  }

  static void enter() {
    synchronized (held) {
      throw new IllegalStateException("nobody gives it up");
    }
  }

  static void await() {
    synchronized (waited) {
      try {
        waited.wait();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  static void start(String name, Runnable body) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    thread.start();
  }

  static void startVirtual(String name, final Runnable body) throws Exception {
    Object builder;
    try {
      builder = Thread.class.getMethod("ofVirtual").invoke(null);
    } catch (NoSuchMethodException e) {
      return;
    }
    Class<?> type = Class.forName("java.lang.Thread$Builder");
    builder = type.getMethod("name", String.class).invoke(builder, name);
    type.getMethod("start", Runnable.class).invoke(builder, body);
  }

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < all.length; i++) all[i] = chain = new Marker(chain, i);
    start("interpreted", () -> interpreted(7));
    start("compiled", Exhibits::runCompiled);
    start("holder", Exhibits::hold);
    start("waiter", Exhibits::await);
    start("spinner", Exhibits::spin);
    Thread.sleep(300);
    start("blocked", Exhibits::enter);
    start("locker", lock::lock);
    start("parked", LockSupport::park);
    startVirtual("virtual-parked", LockSupport::park);
    startVirtual("virtual-interpreted", () -> interpreted(2));
    while (!sleeps) Thread.sleep(50);
    Thread.sleep(500);
    System.out.println("READY");
    System.in.read();
  }
}
