/**
 * A program that does known things from its first bytecode to its end: 100 steps, of which every tenth fails. It has no
 * static initializer, prints nothing, and each of its lines does one thing.
 */
public final class Firsts {
    static int sink;

    static final class Made {
        final int number;

        Made(int number) {
            this.number = number;
        }
    }

    static final class Failure extends RuntimeException {
        Failure() {
            super("as asked");
        }
    }

    static final class Helper {
        static int help(int number) {
            return number + 1;
        }
    }

    static void fail() {
        throw new Failure();
    }

    static void tryTo() {
        try {
            fail();
        } catch (Failure e) {
            sink++;
        }
    }

    static void step(int number) {
        Made made = new Made(number);
        if (number % 10 == 0) {
            tryTo();
        }
        sink += Helper.help(made.number);
    }

    public static void main(String[] args) {
        for (int i = 0; i < 100; i++) {
            step(i);
        }
    }
}
