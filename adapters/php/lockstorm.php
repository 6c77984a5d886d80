<?php
// What adapters of lockstorm in PHP share: the pipes, the clock, and what is known of an error.
//
// An adapter is an object with about() and open($request), attempt($request), release($hold), and perhaps extend($hold) and ask($hold).
// attempt returns [hold, fields of the grant]. An exception is of unknown outcome, unless it is a Definite. PHP has one thread:
// requests are carried out one after the other. An adapter whose library runs the critical section by itself has section($request, $program, $inside) in place
// of attempt and release: it calls $inside with the fields of the grant, which returns when the lock is to be released. The protocol is
// docs/adapters.md.

class Definite extends Exception
{
    public function __construct(public readonly string $answer, string $message = '')
    {
        parent::__construct($message);
    }
}

function now(): string
{
    return (string) hrtime(true);
}

// need loads a library that Debian has for PHP, or says how to get it.
function need(string $file, string $package): void
{
    if (stream_resolve_include_path($file) === false) {
        fwrite(STDERR, "the PHP file $file is missing (Debian: apt-get install $package)\n");
        exit(69);
    }
    require_once $file;
}

// packageVersion is the version of a package of Debian, for a library that does not say its own: that of the folder that it was
// loaded from, whose changelog names it, or of the installed package.
function packageVersion(string $package, string $file): string
{
    $root = strstr((string) stream_resolve_include_path($file), '/share/php/', true);
    $changelog = @gzopen("$root/share/doc/$package/changelog.Debian.gz", 'r');
    if ($changelog && preg_match('/\((?:\d+:)?([\d.]+)/', (string) gzgets($changelog), $match)) {
        return $match[1];
    }
    exec('dpkg-query -W -f \'${Version}\' ' . escapeshellarg($package) . ' 2>/dev/null', $lines);
    return preg_match('/^(?:\d+:)?([\d.]+)/', $lines[0] ?? '', $match) ? $match[1] : 'unknown';
}

final class Program
{
    private $in;
    private $out;
    private array $holds = [];

    public function __construct(private object $adapter)
    {
        foreach (['LOCKSTORM_IN', 'LOCKSTORM_OUT'] as $name) {
            if (!ctype_digit((string) getenv($name))) {
                fwrite(STDERR, "the environment variable $name does not contain the number of a file descriptor: do not start this adapter by hand; lockstorm starts it (--backend exec:cmd=FILE)\n");
                exit(1);
            }
        }
        $this->in = fopen('php://fd/' . getenv('LOCKSTORM_IN'), 'r');
        $this->out = fopen('php://fd/' . getenv('LOCKSTORM_OUT'), 'w');
    }

    private int $numbers = 0;

    private function say(array $line): void
    {
        fwrite($this->out, json_encode($line, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE) . "\n");
        fflush($this->out);
    }

    // point stops at a point of the lock's own protocol until lockstorm says go.
    public function point(int $attempt, string $name): void
    {
        $n = ++$this->numbers;
        $at = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 1)[0]; // the report shows the line that reaches it
        $this->say(['notice' => 'point', 'hold' => $attempt, 'n' => $n, 'name' => $name, 'source' => basename($at['file']) . ':' . $at['line']]);
        while (($text = fgets($this->in)) !== false) {
            $request = json_decode($text, true);
            if ($request['op'] === 'go' && $request['n'] === $n) {
                return;
            }
            if ($request['op'] !== 'cancel') { // nothing else is asked while an attempt is under way, but for a ping
                $this->answer($request);
            }
        }
        exit;
    }

    // cancelled reports whether an attempt that waits is to end; what else was asked meanwhile is answered.
    public function cancelled(int $attempt): bool
    {
        for ($read = [$this->in]; stream_select($read, $write, $except, 0) > 0; $read = [$this->in]) {
            if (($text = fgets($this->in)) === false) {
                posix_kill(posix_getpid(), 9);
            }
            $request = json_decode($text, true);
            if ($request['op'] !== 'cancel') {
                $this->answer($request);
            } elseif ($request['hold'] === $attempt) {
                return true;
            }
        }
        return false;
    }

    public function serve(): never
    {
        while (($text = fgets($this->in)) !== false) {
            $request = json_decode($text, true);
            if ($request['op'] !== 'cancel') {
                $this->answer($request);
            }
        }
        posix_kill(posix_getpid(), 9); // what is held is not released by anybody's destructor
        exit;
    }

    // section is an attempt and, if it is granted, the release that ends it.
    private function section(array $request): void
    {
        $open = $request;
        $more = $this->tried(function () use ($request, &$open): array {
            $this->adapter->section($request, $this, function (array $grant) use ($request, &$open): void {
                $this->say(['id' => $request['id'], 'answer' => 'granted'] + $grant);
                while (($text = fgets($this->in)) !== false) {
                    $inside = json_decode($text, true);
                    if ($inside['op'] === 'release' && $inside['hold'] === $request['id']) {
                        $open = $inside;
                        return;
                    }
                    if ($inside['op'] !== 'cancel') {
                        $this->answer($inside);
                    }
                }
                posix_kill(posix_getpid(), 9);
            });
            return [];
        });
        $this->say(['id' => $open['id']] + $more + ['answer' => 'ok']);
    }

    private function answer(array $request): void
    {
        if ($request['op'] === 'acquire' && method_exists($this->adapter, 'section')) {
            $this->section($request);
        } else {
            $this->say(['id' => $request['id']] + $this->tried(fn () => $this->call($request)) + ['answer' => 'ok']);
        }
    }

    // tried is the answer of a call, or what its exception says.
    private function tried(Closure $call): array
    {
        try {
            return $call();
        } catch (Definite $e) {
            return ['answer' => $e->answer, 'message' => $e->getMessage()];
        } catch (Throwable $e) {
            fwrite(STDERR, $e . "\n");
            return ['answer' => 'error', 'message' => get_class($e) . ': ' . $e->getMessage() . ($e->getPrevious() ? ': ' . $e->getPrevious()->getMessage() : '')];
        }
    }

    private function call(array $request): array
    {
        $hold = $this->holds[$request['hold'] ?? 0] ?? null;
        switch ($request['op']) {
            case 'hello':
                return ['about' => $this->adapter->about()];
            case 'ping':
                return ['now' => now()];
            case 'open':
                $this->adapter->open($request);
                return [];
            case 'try':
                [$this->holds[$request['id']], $more] = $this->adapter->attempt($request, $this);
                return ['answer' => 'granted'] + $more;
            case 'release':
                if (!method_exists($this->adapter, 'release')) {
                    throw new Definite('not-held', 'the critical section has ended');
                }
                $this->adapter->release($hold);
                return [];
            case 'extend':
                return method_exists($this->adapter, 'extend') ? $this->adapter->extend($hold) : ['answer' => 'unsupported'];
            case 'ask':
                return method_exists($this->adapter, 'ask') ? ['held' => $this->adapter->ask($hold)] : ['answer' => 'unsupported'];
        }
        return ['answer' => 'unsupported'];
    }
}
