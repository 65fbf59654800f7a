import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A small database under load, for repeated traces: threads (the argument, or four) parse queries into trees of many
 * classes, run them over a table, change it under locks, throw and catch. "rounds" answers with the number of queries
 * run, "quit" ends the program.
 */
public final class LastingWork {
    private static final AtomicLong ROUNDS = new AtomicLong();
    private static final int ROWS = 500;
    private static final String[] QUERIES = {
        "v + id % 7", "max(v, id) * 2 - 1", "v < id & !(id = 3)", "min(v, 10) / (id % 5)", "if(v < 100, v, abs(0 - id))",
        "len(name) + v * v", "(v | id) = 0", "nonsense + 1", "v +", "sum(id, v, 1)"};

    interface Node { double of(Row row); }

    static final class Row {
        final int id;
        final String name;
        int v;

        Row(int id) {
            this.id = id;
            this.name = "n" + id;
            this.v = id % 17;
        }

        synchronized int add(int some) {
            return v += some;
        }
    }

    static class Fault extends RuntimeException {
        Fault(String text) {
            super(text);
        }
    }

    static final class Syntax extends Fault {
        Syntax(String text) {
            super(text);
        }
    }

    abstract static class Two implements Node {
        final Node left;
        final Node right;

        Two(Node left, Node right) {
            this.left = left;
            this.right = right;
        }

        public double of(Row row) {
            return of(left.of(row), right.of(row));
        }

        abstract double of(double a, double b);
    }

    static final class Plus extends Two {
        Plus(Node a, Node b) { super(a, b); }
        double of(double a, double b) { return a + b; }
    }

    static final class Minus extends Two {
        Minus(Node a, Node b) { super(a, b); }
        double of(double a, double b) { return a - b; }
    }

    static final class Times extends Two {
        Times(Node a, Node b) { super(a, b); }
        double of(double a, double b) { return a * b; }
    }

    static final class Divided extends Two {
        Divided(Node a, Node b) { super(a, b); }
        double of(double a, double b) {
            try {
                return (int) a / (int) b;
            } catch (ArithmeticException e) {
                return Double.NaN;
            }
        }
    }

    static final class Rest extends Two {
        Rest(Node a, Node b) { super(a, b); }
        double of(double a, double b) { return a % b; }
    }

    static final class Less extends Two {
        Less(Node a, Node b) { super(a, b); }
        double of(double a, double b) { return a < b ? 1 : 0; }
    }

    static final class Equal extends Two {
        Equal(Node a, Node b) { super(a, b); }
        double of(double a, double b) { return a == b ? 1 : 0; }
    }

    static final class And extends Two {
        And(Node a, Node b) { super(a, b); }
        double of(double a, double b) { return a != 0 && b != 0 ? 1 : 0; }
    }

    static final class Or extends Two {
        Or(Node a, Node b) { super(a, b); }
        double of(double a, double b) { return a != 0 || b != 0 ? 1 : 0; }
    }

    static final class Not implements Node {
        final Node of;
        Not(Node of) { this.of = of; }
        public double of(Row row) { return of.of(row) == 0 ? 1 : 0; }
    }

    static final class Constant implements Node {
        final double value;
        Constant(double value) { this.value = value; }
        public double of(Row row) { return value; }
    }

    static final class Column implements Node {
        final String name;
        Column(String name) { this.name = name; }
        public double of(Row row) {
            switch (name) {
                case "id": return row.id;
                case "v": return row.v;
                default: throw new Fault("no column " + name);
            }
        }
    }

    static final class Length implements Node {
        public double of(Row row) { return row.name.length(); }
    }

    static final class Call implements Node {
        final String name;
        final List<Node> arguments;

        Call(String name, List<Node> arguments) {
            this.name = name;
            this.arguments = arguments;
        }

        public double of(Row row) {
            double first = arguments.get(0).of(row);
            if (name.equals("abs")) return Math.abs(first);
            if (name.equals("if")) return arguments.get(first != 0 ? 1 : 2).of(row);
            double second = arguments.get(1).of(row);
            if (name.equals("min")) return Math.min(first, second);
            if (name.equals("max")) return Math.max(first, second);
            throw new Fault("no function " + name);
        }
    }

    static final class Parser {
        private final String text;
        private int at;

        Parser(String text) {
            this.text = text.replace(" ", "");
        }

        Node whole() {
            Node node = logic();
            if (at != text.length()) throw new Syntax("at " + at);
            return node;
        }

        private boolean takes(char c) {
            if (at >= text.length() || text.charAt(at) != c) return false;
            ++at;
            return true;
        }

        private Node logic() {
            Node node = compared();
            for (;;) {
                if (takes('&')) node = new And(node, compared());
                else if (takes('|')) node = new Or(node, compared());
                else return node;
            }
        }

        private Node compared() {
            Node node = sum();
            if (takes('<')) return new Less(node, sum());
            return takes('=') ? new Equal(node, sum()) : node;
        }

        private Node sum() {
            Node node = product();
            for (;;) {
                if (takes('+')) node = new Plus(node, product());
                else if (takes('-')) node = new Minus(node, product());
                else return node;
            }
        }

        private Node product() {
            Node node = single();
            for (;;) {
                if (takes('*')) node = new Times(node, single());
                else if (takes('/')) node = new Divided(node, single());
                else if (takes('%')) node = new Rest(node, single());
                else return node;
            }
        }

        private Node single() {
            if (takes('!')) return new Not(single());
            if (takes('(')) {
                Node node = logic();
                if (!takes(')')) throw new Syntax("no ) at " + at);
                return node;
            }
            int begin = at;
            while (at < text.length() && Character.isLetterOrDigit(text.charAt(at))) ++at;
            if (begin == at) throw new Syntax("nothing at " + at);
            String word = text.substring(begin, at);
            if (Character.isDigit(word.charAt(0))) return new Constant(Double.parseDouble(word));
            if (!takes('(')) return new Column(word);
            List<Node> arguments = new ArrayList<>();
            do arguments.add(logic());
            while (takes(','));
            if (!takes(')')) throw new Syntax("no ) at " + at);
            return word.equals("len") ? new Length() : new Call(word, arguments);
        }
    }

    static final class Table {
        private final List<Row> rows = new ArrayList<>();
        private final Map<String, Integer> faults = new HashMap<>();

        Table() {
            for (int i = 0; i < ROWS; i++) rows.add(new Row(i));
        }

        TreeMap<Double, Integer> group(Node by, int from, int count) {
            TreeMap<Double, Integer> groups = new TreeMap<>();
            for (int i = from; i < from + count; i++) groups.merge(by.of(rows.get(i)), 1, Integer::sum);
            return groups;
        }

        void change(Random random) {
            synchronized (this) {
                rows.get(random.nextInt(ROWS)).add(random.nextInt(9) - 4);
            }
        }

        void note(Throwable fault) {
            synchronized (faults) {
                faults.merge(fault.getClass().getName(), 1, Integer::sum);
            }
        }
    }

    static final class Worker implements Runnable {
        private final Table table;
        private final Random random;

        Worker(Table table, int number) {
            this.table = table;
            this.random = new Random(number);
        }

        public void run() {
            for (;;) {
                try {
                    Node query = new Parser(QUERIES[random.nextInt(QUERIES.length)]).whole();
                    if (table.group(query, random.nextInt(ROWS / 2), ROWS / 4).isEmpty()) throw new Fault("no group");
                    table.change(random);
                } catch (Throwable fault) {
                    table.note(fault);
                } finally {
                    ROUNDS.incrementAndGet();
                }
            }
        }
    }

    private LastingWork() {
    }

    /** The commands are described above. */
    public static void main(String[] arguments) throws IOException {
        int threads = arguments.length == 0 ? 4 : Integer.parseInt(arguments[0]);
        Table table = new Table();
        for (int i = 0; i < threads; i++) {
            Thread worker = new Thread(new Worker(table, i), "worker-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            System.out.println(line.equals("rounds") ? "OK " + ROUNDS : "ERR " + line);
        }
    }
}
