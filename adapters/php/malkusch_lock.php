#!/usr/bin/env php
<?php
// php-lock (malkusch/lock) as an adapter of lockstorm: PHPRedisMutex, which sets SET NX EX with one second more than the time to live, and
// compares before it deletes. Its only call is synchronized(), which runs the critical section: what lockstorm asks in the middle of one is
// answered from there. It waits as long as the time to live, and no longer.
//
// Run it with: lockstorm run --backend exec:cmd=adapters/php/malkusch_lock.php --nemesis client-pause
require __DIR__ . '/lockstorm.php';

use malkusch\lock\exception\ExecutionOutsideLockException;
use malkusch\lock\exception\LockReleaseException;
use malkusch\lock\exception\TimeoutException;
use malkusch\lock\mutex\PHPRedisMutex;

need('Malkusch/Lock/autoload.php', 'php-malkusch-lock');

// Stamped is phpredis, which notes when it sends a try, and sends none once the wait is over: the library has no way to end one.
final class Stamped extends Redis
{
    public string $sent = '0';
    public ?Closure $cancelled = null;

    public function set($key, $value, $options = null)
    {
        if (($this->cancelled)()) {
            throw new Definite('busy', 'the wait was cancelled');
        }
        $this->sent = now();
        return parent::set($key, $value, $options);
    }
}

final class Malkusch
{
    private array $node;
    private string $run;
    private int $seconds;
    private ?Stamped $redis = null;

    public function about(): array
    {
        $version = packageVersion('php-malkusch-lock', 'Malkusch/Lock/autoload.php');
        return [
            'protocol' => 1, 'name' => 'malkusch_lock.php', 'version' => '1', 'library' => "malkusch/lock $version",
            'doc' => 'PHPRedisMutex of malkusch/lock: SET NX EX; a script compares the value of the key before it deletes the key',
            'topologies' => ['redis-single', 'redis-single-aof'], 'ends' => 'lease', 'clock' => 'monotonic', 'no_try' => true, 'waits' => true,
            'keys' => ['lock_{run}:{lock}'], 'versions' => ['php' => PHP_VERSION, 'malkusch/lock' => $version, 'phpredis' => phpversion('redis')],
            'notes' => 'If a critical section takes longer than the time to live, the library throws an exception at the end of the section. Until then the client does not learn that the lock is lost.',
            'recovery_ns' => 4_000_000_000,
        ];
    }

    public function open(array $request): void
    {
        $this->node = $request['nodes'][0];
        $this->run = $request['run'];
        $this->seconds = (int) ceil($request['lease_ns'] / 1e9);
        $this->connect();
    }

    private function connect(): void
    {
        $this->redis = new Stamped();
        $this->redis->connect($this->node['host'], $this->node['port']);
    }

    // section runs a critical section: $inside is told what the grant says, and returns when the lock is to be released.
    public function section(array $request, Program $program, Closure $inside): void
    {
        if ($this->redis === null) {
            $this->connect();
        }
        $this->redis->cancelled = fn () => $program->cancelled($request['id']);
        $mutex = new PHPRedisMutex([$this->redis], "{$this->run}:{$request['lock']}", $this->seconds);
        try {
            $mutex->synchronized(fn () => $inside(['sent' => $this->redis->sent, 'ttl_ns' => $this->seconds . '000000000']));
        } catch (TimeoutException $e) {
            throw new Definite('busy', $e->getMessage());
        } catch (ExecutionOutsideLockException $e) { // the library has not looked whether it still had the lock, and has not deleted the key
            if ((int) now() < (int) $this->redis->sent + $this->seconds * 1_000_000_000) {
                throw $e; // by another clock
            }
            throw new Definite('not-held', $e->getMessage());
        } catch (Definite $e) {
            throw $e;
        } catch (Throwable $e) { // "Failed to release the lock": what the server said, and whether it said anything, is not in it
            $this->redis = null; // a user would connect again
            throw $e;
        }
    }
}

(new Program(new Malkusch()))->serve();
