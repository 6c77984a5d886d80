import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** One connection to Redis, made anew after an error: an answer that comes late is never taken for another one's. */
final class Resp {
    private final String host;
    private final int port, limit;
    private Socket socket;
    private InputStream in;

    Resp(String host, int port, int limitMillis) {
        this.host = host;
        this.port = port;
        this.limit = limitMillis;
    }

    /** A number as a Long, a text as a String, nothing as null. */
    Object call(Object... words) throws Exception {
        if (socket == null) {
            Socket made = new Socket();
            try {
                made.connect(new InetSocketAddress(host, port), limit);
            } catch (IOException e) {
                made.close();
                throw new Lockstorm.Known("not-sent", e.toString());
            }
            made.setSoTimeout(limit);
            made.setTcpNoDelay(true);
            socket = made;
            in = new BufferedInputStream(made.getInputStream());
        }
        StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
        for (Object word : words) {
            text.append('$').append(word.toString().getBytes(StandardCharsets.UTF_8).length).append("\r\n").append(word).append("\r\n");
        }
        try {
            OutputStream out = socket.getOutputStream();
            out.write(text.toString().getBytes(StandardCharsets.UTF_8));
            out.flush();
            return answer();
        } catch (IOException e) {
            socket.close();
            socket = null;
            throw e;
        }
    }

    private Object answer() throws IOException {
        String line = line();
        String rest = line.substring(1);
        switch (line.charAt(0)) {
            case '-':
                throw new IllegalStateException(rest);
            case ':':
                return Long.valueOf(rest);
            case '$':
                if (rest.equals("-1")) {
                    return null;
                }
                byte[] body = in.readNBytes(Integer.parseInt(rest) + 2);
                return new String(body, 0, body.length - 2, StandardCharsets.UTF_8);
            default:
                return rest;
        }
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\r'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the connection was closed");
            }
            line.append((char) c);
        }
        in.read();
        return line.toString();
    }
}
